import { systemClock, systemTimers } from "../../clock/clock.ts";
import { connectWithin } from "./any-server.ts";
import { ConnectionLine } from "./connection-line.ts";
import type { Endpoint } from "./remote-url.ts";
import type { GivenUp, RouteParts } from "./route.ts";
import type { WriterRole } from "./writer-choice.ts";

/** What a server answers about its role. */
export type ServerAnswer =
  | { readonly kind: "writer"; readonly role: WriterRole }
  /** It takes no writes that count; `problem` says why. */
  | { readonly kind: "other"; readonly problem: string }
  /** A sentinel, which names the server that takes writes. */
  | { readonly kind: "names"; readonly server: Endpoint };

/** A server, and the outcome of asking it. */
export interface Sighting<T> {
  readonly server: Endpoint;
  /** Monotonic time at which it was asked. */
  readonly askedAtMs: number;
  readonly answer:
    | { readonly kind: "writer"; readonly role: WriterRole; readonly connection: T }
    | Exclude<ServerAnswer, { kind: "writer" }>
    /** It did not answer, which is not evidence of anything. */
    | { readonly kind: "silent"; readonly problem: unknown };
}

/** When and how a {@link WatchedServer} is asked. */
interface AskRules<T> {
  /** Whether it is asked before each call, or once for each connection. */
  readonly asksAgain: boolean;
  /** Asks a server what it is. */
  readonly ask: (connection: T, server: Endpoint) => Promise<ServerAnswer>;
}

/** One of several servers, with a connection that is kept, over which it is asked for its role. */
export class WatchedServer<T> {
  readonly #server: Endpoint;
  readonly #line: ConnectionLine<T>;
  readonly #rules: AskRules<T>;
  readonly #timeoutMs: number;
  /** The question that is on its way; for a server that is asked only once, also the one that it has answered. */
  #asking: Promise<Sighting<T>> | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #connection: T | undefined;
  #isNew = true;

  constructor(
    server: Endpoint,
    { connect, destroy, sessions, callTimeoutMs, connectTimeoutMs }: RouteParts<T>,
    rules: AskRules<T>,
  ) {
    this.#server = server;
    this.#rules = rules;
    this.#timeoutMs = callTimeoutMs;
    this.#line = new ConnectionLine({
      connect: (signal, lost) => {
        const onLost = (): void => {
          this.#forget();
          lost();
        };
        return connectWithin(connectTimeoutMs(), signal, (wanted) => connect(server, wanted, onLost));
      },
      destroy,
      sessions,
    });
  }

  /** The present connection; undefined if there is none. */
  get connection(): T | undefined {
    return this.#connection;
  }

  /** Monotonic time of the last question, answered or not. */
  get askedAtMs(): number {
    return this.#askedAtMs;
  }

  /** Whether nothing is known of the server yet, because its first question is still on its way. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /**
   * Asks the server what it is, connecting if that is necessary. One question is on its way at a time. Never rejects,
   * and ends within twice the time of a call: once to connect, and once to answer.
   */
  ask(): Promise<Sighting<T>> {
    if (this.#asking !== undefined) return this.#asking;
    const asking = this.#ask();
    this.#asking = asking;
    void asking.then(({ answer }) => {
      this.#isNew = false;
      const isEnough = answer.kind === "writer" && !this.#rules.asksAgain;
      if (this.#asking === asking && !isEnough) this.#asking = undefined;
    });
    return asking;
  }

  /** Reports that a call over this connection was answered. */
  worked(): void {
    this.#line.worked();
  }

  /** Gives up the connection. */
  drop(why: GivenUp): void {
    this.#forget();
    this.#line.drop(why);
  }

  /** {@link drop}, permanently. */
  close(): void {
    this.#forget();
    this.#line.close();
  }

  async #ask(): Promise<Sighting<T>> {
    const server = this.#server;
    this.#askedAtMs = systemClock.monotonicMs();
    let connection: T | undefined;
    try {
      connection = await this.#line.open();
      this.#connection = connection;
      const askedAtMs = systemClock.monotonicMs();
      const answer = await within(this.#timeoutMs, this.#rules.ask(connection, server));
      if (answer.kind === "writer") return { server, askedAtMs, answer: { ...answer, connection } };
      this.#line.worked();
      return { server, askedAtMs, answer };
    } catch (problem) {
      // A failure to connect has given the attempt up already, and another may have begun.
      if (connection !== undefined && this.#connection === connection) {
        this.drop(problem instanceof LateError ? "silent" : "failed");
      }
      return { server, askedAtMs: this.#askedAtMs, answer: { kind: "silent", problem } };
    }
  }

  #forget(): void {
    this.#connection = undefined;
    this.#asking = undefined;
  }
}

class LateError extends Error {}

/** @throws LateError if `work` is not done in time. */
async function within<R>(timeoutMs: number, work: Promise<R>): Promise<R> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = systemTimers.after(timeoutMs, () => reject(new LateError(`no answer within ${timeoutMs / 1_000} s`)));
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
