import { expect, onTestFinished, test, vi } from "vitest";
import { nodeClock } from "./node-clock.ts";

test("a timer of any length, one that is over too, makes Node print no warning", async () => {
  const onWarning = vi.fn();
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const work = vi.fn();
  const callOffs = [2 ** 31, 2 ** 53, Infinity].map((delayMs) => nodeClock.schedule(delayMs, work, "lets it end"));
  await Promise.all(
    [-1, -Infinity, 0, 0.5].map(
      (delayMs) => new Promise<void>((resolve) => void nodeClock.schedule(delayMs, resolve, "keeps process")),
    ),
  );
  for (const callOff of callOffs) callOff();
  expect(work).not.toHaveBeenCalled();
  expect(onWarning).not.toHaveBeenCalled();
});
