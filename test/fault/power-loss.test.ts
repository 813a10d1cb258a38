import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";
import { gutting } from "./gutting.ts";
import { PowerSupply } from "./power-loss.ts";

const keys = ["worker-1", "worker-2"];

/** A process that counts a record up; the last number that the store confirmed to it. */
class Writer {
  confirmed = 0;
  readonly child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #text = "";

  constructor(power: PowerSupply, path: string, key: string, gutted: string | undefined) {
    const hooks = gutted === undefined ? [] : gutting(gutted);
    const args = [...hooks, "test/fault/power-writer-process.ts", path, key];
    const env = { ...process.env, ...power.environment };
    this.child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    this.#closed = once(this.child, "close");
    this.child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      const lines = (this.#text + text).split("\n");
      this.#text = lines.pop()!;
      for (const line of lines) this.confirmed = Number(line);
    });
  }

  async untilConfirmed(count: number): Promise<void> {
    const wanted = this.confirmed + count;
    while (this.confirmed < wanted && this.child.exitCode === null) await sleep(2);
  }

  /** Also until all that it said has been read. */
  async end(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.#closed;
  }
}

/**
 * Cuts the power of a machine with two writers `cutCount` times.
 *
 * @returns What was lost first, in words; undefined: nothing that was confirmed.
 */
async function cutPower(seed: number, cutCount: number, gutted?: string): Promise<string | undefined> {
  const random = new SeededRandom(seed);
  const power = await PowerSupply.create(temporaryFolder());
  const path = join(power.folder, "ids.db");
  const confirmed = new Map<string, number>(keys.map((key) => [key, 0]));
  let identity: string | undefined;
  for (let cut = 0; cut < cutCount; cut += 1) {
    const writers = keys.map((key) => new Writer(power, path, key, gutted));
    // Now and then the power goes while they open the file, or before there is one.
    if (!random.oneIn(4)) await Promise.all(writers.map((each) => each.untilConfirmed(1 + random.below(5))));
    await sleep(random.below(30));
    for (const { child } of writers) child.kill("SIGSTOP");
    await Promise.all(writers.map((each) => each.end()));
    for (const [index, key] of keys.entries()) confirmed.set(key, writers[index]!.confirmed || confirmed.get(key)!);
    power.undo(random);
    const store = await openStore(`sqlite:${path}`, { namespace: "default", callTimeoutMs: 60_000 });
    try {
      const listed = await store.list().catch((error: unknown) => String(error));
      if (typeof listed === "string") return `seed ${seed}, cut ${cut}: ${listed}`;
      const { entries, moment } = listed;
      for (const [key, value] of confirmed) {
        const text = entries.find((each) => each.key === key)?.text ?? "0";
        if (Number(text) < value) return `seed ${seed}, cut ${cut}: ${key} is ${text}, and ${value} was confirmed`;
      }
      const isNew = [...confirmed.values()].every((value) => value === 0);
      if (!isNew && identity !== undefined && identity !== moment.incarnation.identity)
        return `seed ${seed}, cut ${cut}: the file is another by its identity`;
      identity = isNew ? undefined : moment.incarnation.identity;
    } finally {
      await store.close();
      power.settle();
    }
  }
  return undefined;
}

test("no write that the embedded store confirmed is gone when the power comes back", async () => {
  expect(await cutPower(1, 15)).toBeUndefined();
});

for (const level of ["full", "off"]) {
  test(`with synchronous=${level.toUpperCase()} one is`, async () => {
    expect(await cutPower(1, 100, `synchronous-${level}`)).toMatch(/was confirmed|is damaged|another by its identity/);
  });
}
