import { describe, expect, test } from "vitest";
import { IdError } from "../errors.ts";
import type { WorkerEvent } from "../lease/worker-event.ts";
import { createLog, type LogLevel } from "./log.ts";
import { logWorkerEvent } from "./worker-log.ts";

/** The lines of one event on a store whose URL has a password. */
function linesOf(
  event: WorkerEvent,
  level: LogLevel,
  {
    format = "text",
    storeUrl = "postgres://snowlane:secret@db1,db2:5433/app",
  }: { readonly format?: "text" | "json"; readonly storeUrl?: string } = {},
): readonly string[] {
  const written: string[] = [];
  const log = createLog({ level, format, write: (line) => written.push(line), nowMs: () => 0 });
  logWorkerEvent(event, { log, storeUrl, phase: "serving" });
  return written;
}

const cause = new Error("connect ECONNREFUSED 10.0.0.7:5432");
const error = new IdError("STORE_UNAVAILABLE", `The postgres store cannot be used: ${cause.message}.`, { cause });

describe("a store that fails", () => {
  test("is logged as a sentence with store, host and reason (it was JSON with two stacks, and without its host)", () => {
    const [line, ...others] = linesOf({ kind: "store-problem", during: "list", error }, "info");
    expect(others).toEqual([]);
    expect(line).toContain(
      " WARN The postgres store cannot be used: connect ECONNREFUSED 10.0.0.7:5432 (postgres://snowlane:***@db1,db2:5433/app). event=store-problem",
    );
    expect(line).not.toMatch(/secret|\{|\bat /);
    const [json] = linesOf({ kind: "store-problem", during: "list", error }, "info", { format: "json" });
    expect(json).not.toMatch(/stack|secret/);
  });

  test("is logged with the stacks of error and cause at debug", () => {
    const lines = linesOf({ kind: "store-problem", during: "list", error }, "debug", { format: "json" });
    const written = JSON.parse(lines.at(-1)!) as { level: string; error: { stack: string; cause: { stack: string } } };
    expect(written).toMatchObject({ level: "debug", error: { reason: "STORE_UNAVAILABLE" } });
    expect([written.error.stack, written.error.cause.stack]).toEqual([expect.any(String), expect.any(String)]);
  });

  test.each([
    [Date.UTC(2026, 10, 23), "IDs are given out until 2026-11-23T00:00:00.000Z"],
    [undefined, "IDs are refused until the store answers."],
  ])("for long is logged with for how long, and what becomes of calls", (servesUntilMs, consequence) => {
    const [line] = linesOf({ kind: "store-still-failing", error, forMs: 7_500_000, servesUntilMs }, "info");
    expect(line).toContain("This has lasted 2 h 5 min.");
    expect(line).toContain(consequence);
  });
});

const lapsed: WorkerEvent = {
  kind: "grant-ended",
  end: "lapsed",
  datacenterId: 0,
  workerId: 7,
  detail: "the window ended before a renewal was confirmed: the store is silent.",
};

test.each<[WorkerEvent, string]>([
  [{ kind: "window-half-gone", leftMs: 14_900, error }, "WARN Half of the window is gone"],
  [{ kind: "window-half-gone", leftMs: 14_900, error }, "IDs can be given out for 14.9 s more"],
  [{ kind: "store-answers-again", forMs: 12_300 }, "INFO The store answers again, 12.3 s after it began to fail (post"],
  [lapsed, "the store is silent. Calls wait, or are refused, until another one is granted. event="],
  [{ kind: "clock-offset", aheadMs: 2_500 }, "WARN This machine's clock is 2.5 s ahead of the store's"],
  [{ kind: "clock-off", aheadMs: -400_000 }, "ERROR The clock is too far from the store's: it is 400.0 s behind it"],
  [{ kind: "new-deployment", namespace: "default", untilMs: undefined }, "INFO Begins a new deployment"],
  [{ kind: "new-deployment", namespace: "default", untilMs: 8_000 }, "can be granted at 1970-01-01T00:00:08.000Z"],
  [{ kind: "still-waiting", forMs: 180_000, detail: "all are in use" }, "for 3 min: all are in use"],
])("%j is a sentence for an operator", (event, text) => {
  expect(linesOf(event, "info")).toEqual([expect.stringContaining(text)]);
});

test.each([
  [
    "mariadb://db/app",
    "The store started again, its table was made again (OPTIMIZE TABLE, ALTER TABLE), it is another",
  ],
  ["postgres://db/app", "The store started again or was promoted, its table was made again, it is another"],
  ["rediss://cache", "The store started again, another server was promoted, its first replica attached, it is another"],
  ["zookeeper://zk1,zk2", "The store elected a leader or went back, its tree was made again, it is another"],
  ["etcd://etcd1", "The store went back to an older copy, it is another"],
])(
  "another life of %s is logged with what can have happened there (it was OPTIMIZE TABLE for all)",
  (storeUrl, text) => {
    const event: WorkerEvent = { kind: "incarnation-changed", identity: "other", t0Ms: 0 };
    const [line] = linesOf(event, "info", { storeUrl });
    expect(line).toContain(
      ` WARN ${text} one, or it was emptied: new worker IDs wait for the quarantine, holders go on`,
    );
  },
);
