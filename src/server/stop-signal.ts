import type { Clock } from "../clock/clock.ts";

/** npm forwards a signal that the terminal has already sent: the second of two within this time repeats the first. */
const echoMs = 500;

/** The signals by which people end the process. */
export interface StopSignal {
  /** Aborted at the first SIGTERM or SIGINT, with the name of the signal as the reason. */
  readonly signal: AbortSignal;
  /** Stops listening. */
  readonly dispose: () => void;
}

/**
 * Listens for SIGTERM and SIGINT. A further signal ends the process at once, as without a listener; a shell shows
 * 128 and its number for that.
 */
export function listenForStop(
  process: Pick<NodeJS.Process, "on" | "off" | "exit" | "kill" | "pid">,
  clock: Clock,
): StopSignal {
  const stop = new AbortController();
  let firstMs = Number.POSITIVE_INFINITY;
  const listeners = [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const;
  const handlers = listeners.map(([name, exitCode]) => {
    const handler = (): void => {
      if (!stop.signal.aborted) {
        firstMs = clock.monotonicMs();
        stop.abort(name);
      } else if (clock.monotonicMs() - firstMs > echoMs) {
        dispose();
        // exit() is not used, because it waits for a thread whose disk does not answer.
        process.kill(process.pid, name);
        // The first process of a container does not end by a signal that it sends itself.
        process.exit(exitCode);
      }
    };
    process.on(name, handler);
    return () => process.off(name, handler);
  });
  const dispose = (): void => {
    for (const off of handlers) off();
  };
  return { signal: stop.signal, dispose };
}
