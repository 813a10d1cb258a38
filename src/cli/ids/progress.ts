import type { Clock } from "../../clock/clock.ts";
import type { CommandContext } from "../command.ts";

/** Nothing is shown before this time, because short work needs no progress line. */
const quietMs = 1_000;
const periodMs = 200;
const wipe = "\r\u001b[K";

/** Shows the progress of long work, on a terminal only. */
export interface Progress {
  add(count: number): void;
  /** Writes whole lines on standard error, terminal or not, without leftovers of the progress line before them. */
  say(lines: string): void;
  /** Wipes the line. */
  end(): void;
}

/** Starts to show progress on standard error, if that is a terminal, towards `total` where it is known. */
export function startProgress(stderr: CommandContext["stderr"], clock: Clock, total?: number): Progress {
  if (stderr.isTTY !== true) {
    return { add: () => undefined, say: (lines) => void (lines !== "" && stderr.write(lines)), end: () => undefined };
  }
  const startedMs = clock.monotonicMs();
  let done = 0;
  let shown = false;
  const show = (): void => {
    const elapsedMs = clock.monotonicMs() - startedMs;
    if (elapsedMs < quietMs || done === 0) return;
    shown = true;
    const rate = grouped(Math.round((done / elapsedMs) * 1000));
    const leftS = total === undefined ? 0 : Math.ceil(((total - done) * elapsedMs) / done / 1000);
    const far = total === undefined ? grouped(done) : `${((done / total) * 100).toFixed(0)} %`;
    stderr.write(`${wipe}${far}  ${rate} IDs/s${total === undefined ? "" : `  ${leftS} s left`}`);
  };
  const clear = (): void => {
    if (shown) stderr.write(wipe);
    shown = false;
  };
  const timer = setInterval(show, periodMs);
  return {
    add: (count) => {
      done += count;
    },
    say: (lines) => {
      if (lines === "") return;
      clear();
      stderr.write(lines);
    },
    end: () => {
      clearInterval(timer);
      clear();
    },
  };
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
