import { expect, test } from "vitest";
import { paintFor } from "./paint.ts";

const red = "\u001B[31mtext\u001B[39m";

test.each<[string, boolean, Readonly<Record<string, string>>, string]>([
  ["on a terminal there is colour", true, { TERM: "xterm" }, red],
  ["into a pipe there is none", false, { TERM: "xterm" }, "text"],
  ["NO_COLOR takes it from a terminal", true, { NO_COLOR: "1" }, "text"],
  ["an empty NO_COLOR does not", true, { NO_COLOR: "" }, red],
  ["a dumb terminal has none", true, { TERM: "dumb" }, "text"],
  ["FORCE_COLOR colours a pipe", false, { FORCE_COLOR: "1" }, red],
  ["FORCE_COLOR wins over NO_COLOR", false, { FORCE_COLOR: "1", NO_COLOR: "1" }, red],
  ["FORCE_COLOR=0 takes it from a terminal", true, { FORCE_COLOR: "0" }, "text"],
])("%s", (_case, isTTY, environment, expected) => {
  expect(paintFor({ isTTY }, environment)("bad", "text")).toBe(expected);
});
