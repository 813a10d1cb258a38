import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLayout, type Layout } from "../../src/snowflake/layout.ts";
import { nsPerMs } from "../../src/snowflake/nanoseconds.ts";
import type { LogLine } from "../support/processes/snowlane-process.ts";
import { GrantPieces, type LoggedGrant, readFirstIds } from "../support/worlds/grant-pieces.ts";
import { IssuedRuns } from "../support/worlds/issued-runs.ts";
import type { LifeReports } from "./fault-server.ts";

/** The layout of every trial: without datacenters, so that a store can be bound to a few worker IDs. */
const layout = createLayout({
  name: "custom",
  epochMs: Date.UTC(2020, 0),
  tickNs: nsPerMs,
  fields: [
    { kind: "timestamp", bits: 41 },
    { kind: "worker", bits: 10 },
    { kind: "sequence", bits: 12 },
  ],
});

/** The flags for it. */
export const layoutFlags = {
  "layout-fields": "timestamp:41,worker:10,sequence:12",
  epoch: new Date(layout.epochMs).toISOString(),
} as const;

/** What all servers of a trial issued, a log for each life of each, and which grants they said they had. */
export class IssueLogs {
  readonly #folder: string;
  /** By owner. */
  readonly #paths = new Map<string, string>();
  readonly pieces: GrantPieces;

  /**
   * @param folder - Where the logs are written.
   * @param layoutOfIds - That of the servers, without a datacenter.
   */
  constructor(folder: string, layoutOfIds: Layout = layout) {
    this.#folder = folder;
    this.pieces = new GrantPieces(layoutOfIds);
  }

  /** Begins one more life of a server. */
  beginLife(instance: string): LifeReports {
    const life = this.#paths.size;
    const owner = `life ${life} of ${instance}`;
    const path = join(this.#folder, `issued-${life}.log`);
    this.#paths.set(owner, path);
    return {
      args: ["--issue-log", path, "--log-level", "debug"],
      onLine: (line) => this.#onLine(line, { owner, life, instance }),
      onStop: () => this.pieces.stopped(owner),
    };
  }

  /** How many lives have begun. */
  get lifeCount(): number {
    return this.#paths.size;
  }

  /** All that was issued. */
  readIssued(): IssuedRuns {
    const issued = new IssuedRuns();
    for (const path of this.#paths.values()) if (existsSync(path)) issued.addLog(path);
    return issued;
  }

  /** Where grants overlapped or began too low, and IDs that were issued in the piece of another grant, in words. */
  findOverlaps(): readonly string[] {
    const strays = [...this.#paths].map(([owner, path]) =>
      existsSync(path) ? this.pieces.findStray(owner, readFirstIds(path)) : undefined,
    );
    return [...this.pieces.findLowStarts(), ...strays.filter((stray) => stray !== undefined)];
  }

  #onLine(line: LogLine, who: Pick<LoggedGrant, "owner" | "life" | "instance">): void {
    const { event: how } = line;
    const workerId = Number(line["workerId"]);
    if (how === "grant-ended" && line["end"] === "released") this.pieces.released(who.owner, workerId);
    if (how !== "acquired" && how !== "resumed") return;
    this.pieces.granted({
      ...who,
      how,
      workerId,
      generation: Number(line["generation"]),
      fromMs: Number(line["fromMs"]),
      untilMs: Number(line["untilMs"]),
      atMs: Date.parse(String(line["time"])),
    });
  }
}
