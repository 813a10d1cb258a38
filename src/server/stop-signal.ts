import type { Clock } from "../clock.ts";

/**
 * npm forwards what the terminal has already sent: the second of two signals within this time is the first one again.
 */
const echoMs = 500;

/** Ends of the process that people ask for. */
export interface StopSignal {
  /** Aborted at the first SIGTERM or SIGINT, with the name of the signal as the reason. */
  readonly signal: AbortSignal;
  /** Stops listening. */
  readonly dispose: () => void;
}

/**
 * Listens for SIGTERM and SIGINT.
 *
 * @param emitter - The process.
 * @param endAtOnce - Called for a further signal, with 128 + its number: what a shell shows for a process that it
 * killed.
 */
export function listenForStop(
  emitter: Pick<NodeJS.Process, "on" | "off">,
  clock: Clock,
  endAtOnce: (exitCode: number) => void,
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
      } else if (clock.monotonicMs() - firstMs > echoMs) endAtOnce(exitCode);
    };
    emitter.on(name, handler);
    return () => emitter.off(name, handler);
  });
  return {
    signal: stop.signal,
    dispose: () => {
      for (const off of handlers) off();
    },
  };
}
