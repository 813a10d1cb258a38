import { systemTimers } from "../../clock/clock.ts";
import { IdError } from "../../errors.ts";
import { ConnectionLine } from "./connection-line.ts";
import { noneTakesUs } from "./problem-text.ts";
import type { Endpoint } from "./remote-url.ts";
import type { Route, RouteParts, Taken } from "./route.ts";

/**
 * The route to a cluster whose servers agree among themselves: to the first server that accepts a connection. All of
 * them give the same answers.
 */
export class AnyServer<T> implements Route<T> {
  readonly #line: ConnectionLine<T>;

  constructor({ servers, connect, destroy, connectTimeoutMs }: RouteParts<T>) {
    this.#line = new ConnectionLine({
      connect: (signal, lost) =>
        connectToAny(servers, signal, connectTimeoutMs(), (server, wanted) => connect(server, wanted, lost)),
      destroy,
    });
  }

  async take(): Promise<Taken<T>> {
    const line = this.#line;
    return { connection: await line.open(), worked: () => line.worked() };
  }

  giveUp(): void {
    this.#line.drop("failed");
  }

  close(): void {
    this.#line.close();
  }
}

/**
 * Connects to the first of several servers that accepts us; each has its share of the time.
 *
 * @param connect - Must destroy what it has begun when its signal aborts.
 * @throws AggregateError if none accepts us: its message names each server with its reason.
 */
async function connectToAny<T>(
  servers: readonly Endpoint[],
  signal: AbortSignal,
  timeoutMs: number,
  connect: (server: Endpoint, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const shareMs = Math.floor(timeoutMs / servers.length);
  const problems: { readonly server: Endpoint; readonly problem: unknown }[] = [];
  for (const server of servers) {
    try {
      return await connectWithin(shareMs, signal, (wanted) => connect(server, wanted));
    } catch (problem) {
      if (problem instanceof IdError || signal.aborted) throw problem;
      problems.push({ server, problem });
    }
  }
  throw noneTakesUs(problems);
}

/**
 * Connects to one server; gives up when the time is over, or when `signal` aborts.
 *
 * @param connect - Must destroy what it has begun when its signal aborts.
 */
export async function connectWithin<T>(
  timeoutMs: number,
  signal: AbortSignal,
  connect: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { promise: ended, reject: end } = Promise.withResolvers<never>();
  const stop = (problem: string): void => {
    controller.abort();
    end(new Error(problem));
  };
  const giveUp = (): void => stop("it was given up");
  const cancel = systemTimers.after(timeoutMs, () => stop(`no connection within ${timeoutMs / 1_000} s`));
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([connect(controller.signal), ended]);
  } finally {
    cancel();
    signal.removeEventListener("abort", giveUp);
  }
}
