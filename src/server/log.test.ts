import { expect, onTestFinished, test, vi } from "vitest";
import { IdError } from "../errors.ts";
import { createLog, type LogOptions } from "./log.ts";

function logged(options: Partial<LogOptions>, act: (log: ReturnType<typeof createLog>) => void): string {
  let written = "";
  act(createLog({ level: "info", format: "json", write: (line) => (written += line), nowMs: () => 0, ...options }));
  return written;
}

test("a JSON line carries time, level, message and fields", () => {
  const line = logged({}, (log) => log.warn("The store is slow", { elapsedMs: 12, id: 2n ** 60n }));
  expect(JSON.parse(line)).toEqual({
    time: "1970-01-01T00:00:00.000Z",
    level: "warn",
    message: "The store is slow",
    elapsedMs: 12,
    id: "1152921504606846976",
  });
});

test("lines below the level are not written", () => {
  expect(logged({ level: "warn" }, (log) => log.info("x"))).toBe("");
  expect(logged({ level: "warn" }, (log) => log.error("x"))).not.toBe("");
});

test("an error is written with its reason and its cause", () => {
  const error = new IdError("STORE_UNAVAILABLE", "No answer.", { cause: new Error("ECONNREFUSED") });
  const { error: written } = JSON.parse(logged({}, (log) => log.error("Renewal failed", { error })));
  expect(written).toMatchObject({
    reason: "STORE_UNAVAILABLE",
    message: "No answer.",
    cause: { message: "ECONNREFUSED" },
  });
});

test("no value can start a line of its own or act on a terminal", () => {
  for (const format of ["text", "json"] as const) {
    const line = logged({ format }, (log) =>
      log.info("a\nb", { value: "x\n2026 INFO forged\u001b[2J\u009b", other: ["\n"] }),
    );
    expect(line.indexOf("\n")).toBe(line.length - 1);
    expect(line).not.toContain("\u001b");
  }
});

test("a text line is short where the values are", () => {
  const line = logged({ format: "text" }, (log) => log.info("Holds a worker ID", { workerId: 5, instance: "a b" }));
  expect(line).toBe('1970-01-01T00:00:00.000Z INFO Holds a worker ID workerId=5 instance="a b"\n');
});

test("a fault that repeats is logged once and then counted (each of its calls wrote a stack)", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line), nowMs: () => 0 });
  const fail = (text: string): void => log.error("A call failed", { error: new TypeError(text) });
  const counts = (): unknown[] => lines.map((line) => JSON.parse(line).foldedCount);
  for (let index = 0; index < 1_000; index++) fail(`caller's text ${index}`);
  log.error("A call failed", { error: new TypeError("elsewhere") });
  expect(counts()).toEqual([undefined, undefined]);
  vi.advanceTimersByTime(10_000);
  expect(counts()).toEqual([undefined, undefined, 999]);
  vi.advanceTimersByTime(20_000);
  fail("later");
  expect(counts()).toEqual([undefined, undefined, 999, undefined]);
});

test("lines of one message and reason are ten in ten seconds, and then their number", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(line), nowMs: () => 0 });
  for (const level of ["debug", "info", "warn"] as const) {
    lines.length = 0;
    for (let index = 0; index < 1_000; index++) log[level](`At ${level}`, { reason: "A", index });
    log[level](`At ${level}`, { error: new IdError("STORE_UNAVAILABLE", "no") });
    log[level](`At ${level}`);
    expect(lines).toHaveLength(12);
    vi.advanceTimersByTime(10_000);
    expect(lines.slice(12).map((line) => JSON.parse(line))).toEqual([
      { time: "1970-01-01T00:00:00.000Z", level, message: `At ${level}`, reason: "A", repeatedCount: 990 },
    ]);
    log[level](`At ${level}`, { reason: "A" });
    expect(lines).toHaveLength(14);
  }
});

test("no line of any level or format has a secret, wherever it occurs", () => {
  const token = `snw_${"x".repeat(43)}`;
  const url = "postgres://app:hunter2@db/ids?sslpassword=hunter2";
  const cause = new Error(`connect ${url} failed`, { cause: `authorization: Bearer ${token}` });
  const fields = {
    token: "hunter2",
    accessToken: "hunter2",
    authorization: "Basic hunter2",
    password: "hunter2",
    store: url,
    text: `(${url}), and redis://:hunter2@cache; Bearer hunter2, ${token}`,
    nested: { password: "hunter2", list: [{ authorization: "hunter2" }, url] },
    error: new IdError("STORE_UNAVAILABLE", `No answer from ${url}.`, { cause }),
    fault: new TypeError(url, { cause }),
  };
  for (const format of ["text", "json"] as const) {
    for (const level of ["debug", "info", "warn", "error"] as const) {
      const line = logged({ format, level: "debug" }, (log) => log[level]("A line", fields));
      expect(line).not.toContain("hunter2");
      expect(line).not.toContain(token);
      expect(line).toContain("postgres://app:***@db/ids?sslpassword=***");
    }
  }
});

test("a sentence in JSON that ends in a URL with parameters keeps its end (it lost it)", () => {
  const line = logged({}, (log) => log.warn("It fails (redis://db?replicas=2): wait (etcd://a?b=c)."));
  expect(JSON.parse(line)).toMatchObject({ message: "It fails (redis://db?replicas=***): wait (etcd://a?b=***)." });
});
