import { systemClock } from "../../clock/clock.ts";
import { IdError } from "../../errors.ts";
import { listenForStop } from "../../server/stop-signal.ts";
import type { CommandContext } from "../command.ts";
import { CommandError } from "../exit-code.ts";

/** How a command with `--watch` looks, and shows what it found. */
export interface WatchOptions<Found> {
  /** Whether one line follows another, for programs. Otherwise a terminal is redrawn. */
  readonly json: boolean;
  /** The pause between two looks, in milliseconds. */
  readonly periodMs: number;
  /** Looks once. May fail, from the second look on. */
  readonly look: () => Promise<Found>;
  /** Writes what a look found. */
  readonly show: (found: Found) => void;
}

/** Moves to the top left, then clears the rest of the screen: a full clear would flicker. */
const [cursorHome, clearBelow] = ["\u001b[H", "\u001b[J"];
const clearScreen = "\u001b[2J";

/** Looks again and again, until Ctrl-C. A failure is reported, and the next look follows. */
export async function watch<Found>(
  { stdout, stderr, process }: CommandContext,
  { json, periodMs, look, show }: WatchOptions<Found>,
): Promise<void> {
  const stop = listenForStop(process, systemClock);
  const redraws = stdout.isTTY === true && !json;
  if (redraws) stdout.write(clearScreen);
  try {
    for (let round = 0; !stop.signal.aborted; round += 1) {
      if (redraws) stdout.write(cursorHome + clearBelow);
      else if (round > 0 && !json) stdout.write("\n");
      await look().then(show, (error: unknown) => tell(stderr, error, round));
      await pause(periodMs, stop.signal);
    }
  } finally {
    stop.dispose();
  }
}

/** The first look fails as without --watch: a fault at that time is most likely permanent. */
function tell(stderr: CommandContext["stderr"], error: unknown, round: number): void {
  if (round === 0 || !(error instanceof IdError || error instanceof CommandError)) throw error;
  stderr.write(`snowlane: ${error.message}\n`);
}

function pause(lengthMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, lengthMs);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
