import { expect, test } from "vitest";
import { LogWriter } from "./log-writer.ts";

/** A stream of log lines that can fail. */
class FailingStream {
  readonly lines: string[] = [];
  failure: Error | undefined;
  writableLength = 0;

  readonly write = (line: string, ...rest: readonly unknown[]): boolean => {
    const done = rest.at(-1) as (error?: Error) => void;
    if (this.failure === undefined) this.lines.push(line);
    done(this.failure);
    return true;
  };
}

// The server used to end when the reader of its log had gone, or the log's disk was full.
test("OPERATIONS 2 and 3: a line that cannot be written is lost and counted, and the first that can be says how many were", () => {
  const stream = new FailingStream();
  const told: number[] = [];
  const lines = new LogWriter(stream, (lostCount) => void told.push(lostCount));
  lines.write("first");
  stream.failure = new Error("write EPIPE");
  lines.write("second");
  lines.write("third");
  expect([lines.lostCount, told]).toEqual([2, []]);
  stream.failure = undefined;
  lines.write("fourth");
  lines.write("fifth");
  expect([stream.lines, told]).toEqual([["first", "fourth", "fifth"], [2]]);
});

test("lines for a reader that takes none are lost once a megabyte waits for it", () => {
  const stream = new FailingStream();
  const lines = new LogWriter(stream, () => {});
  stream.writableLength = 1_048_577;
  lines.write("late");
  expect([lines.lostCount, stream.lines]).toEqual([1, []]);
});
