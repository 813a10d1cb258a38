import { expect, test } from "vitest";
import { RisingIds } from "./rising-ids.ts";

test("an ID that comes twice is found, in one part or in two", () => {
  const ids = new RisingIds();
  ids.add([1n, 2n, 3n]);
  ids.addRun({ firstId: 6n, count: 4, stride: 1n });
  ids.add([5n]);
  expect(ids.endPart()).toBe(0);
  ids.add([10n, 11n]);
  ids.add([11n]);
  expect(ids.endPart()).toBe(1);
  ids.add([8n]);
  expect(ids.endPart()).toBe(1);
  expect(ids.endPart()).toBe(0);
  expect(ids.idCount).toBe(12);
});
