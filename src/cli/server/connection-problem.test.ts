import { expect, test } from "vitest";
import { portHint } from "./connection-problem.ts";

test.each([
  ["http://127.0.0.1", " Without a port it means 80: is it http://127.0.0.1:7609?"],
  ["https://ids.example/", " Without a port it means 443: is it https://ids.example:7609?"],
  ["http://127.0.0.1:80", ""],
  ["http://127.0.0.1:7609", ""],
])("%s: the hint at a port that was forgotten is %j", (url, hint) => {
  expect(portHint(url)).toBe(hint);
});
