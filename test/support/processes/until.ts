import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../src/clock/clock.ts";

/** The longest that is waited. */
const waitMaxMs = 120_000;

/**
 * Waits until something is true, for code that programs share with tests; looks ten times a second.
 *
 * @param what - What is waited for, for the message.
 * @throws Error after two minutes, and as `isTrue` does.
 */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = systemClock.monotonicMs() + waitMaxMs;
  while (!(await isTrue())) {
    if (systemClock.monotonicMs() > endMs) throw new Error(`waited for two minutes, and it was not so: ${what}`);
    await sleep(100);
  }
}
