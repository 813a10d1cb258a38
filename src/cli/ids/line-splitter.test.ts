import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { linesOf } from "./line-splitter.ts";

async function split(chunks: readonly (string | Buffer)[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const some of linesOf(Readable.from(chunks.map((chunk) => Buffer.from(chunk))))) lines.push(...some);
  return lines;
}

test("lines are the same however the stream is cut", async () => {
  const text = "1\n\n22\r\n  333 \né\u{1f600}\nlast";
  const expected = ["1", "", "22", "  333 ", "é\u{1f600}", "last"];
  expect(await split([text])).toEqual(expected);
  expect(await split(Array.from(Buffer.from(text), (byte) => Buffer.from([byte])))).toEqual(expected);
});

test("a line feed at the end begins no further line", async () => {
  expect(await split(["1\n"])).toEqual(["1"]);
  expect(await split([])).toEqual([]);
});

test("a line without end is kept by its beginning alone", async () => {
  const lines = await split(Array.from({ length: 1_000 }, () => "7".repeat(65_536)));
  expect(lines).toHaveLength(1);
  expect(lines[0]!.length).toBe(4_096);
});
