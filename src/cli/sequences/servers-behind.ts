/** The options and the wait of commands after which no server may give out an older value. */
import { systemClock, systemTimers, delay } from "../../clock/clock.ts";
import { lengthOfTime } from "../../clock/length-of-time.ts";
import { duration } from "../../config/setting-kinds.ts";
import type { SequenceServer } from "../../sequence/seen-by-servers.ts";
import type { SequenceCatalog } from "../../sequence/sequence-catalog.ts";
import { CommandError, exitCodes } from "../exit-code.ts";

const dayMs = 86_400_000;

/** `--dead-after` of each such command. */
export const deadAfterOption = duration({
  name: "deadAfter",
  minMs: 1_000,
  maxMs: 3_650 * dayMs,
  doc: "Counts a server as dead if it has not looked at the database for this long. Default: no server is.",
});

const pollMs = 250;

/**
 * Waits until every server has seen the last change of a sequence.
 *
 * @throws CommandError if some have not seen it in time.
 */
export async function untilSeen(
  catalog: SequenceCatalog,
  name: string,
  waitMs: number,
  deadAfterMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const untilMs = systemClock.monotonicMs() + waitMs;
  for (;;) {
    const [first, ...others] = await catalog.behind(name, deadAfterMs);
    if (first === undefined) return;
    if (systemClock.monotonicMs() >= untilMs) throw notSeen(first, others.length);
    await delay(systemTimers, pollMs);
  }
}

/** The error where a server has not seen a change. */
export function notSeen({ server, agoMs }: SequenceServer, otherCount: number): CommandError {
  const others =
    otherCount === 0 ? "" : ` The same holds for ${otherCount} more: snowlane sequences servers lists them.`;
  const message = `${server} was last seen ${lengthOfTime(agoMs)} ago, and may still give values that it has in memory.${others} Wait, or say with --dead-after when a server counts as dead.`;
  return new CommandError(message, exitCodes.held);
}
