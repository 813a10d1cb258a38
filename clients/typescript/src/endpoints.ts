import { backoffMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import { isAbsence, neverAnswered, type SnowlaneError } from "./errors.ts";

/** One server and its recent failures. */
export interface Endpoint {
  /** As errors and events name it: the endpoint of the options, and its {@link address} behind it. */
  readonly url: string;
  /** Of the options. */
  readonly base: string;
  /** The address of its name that is called; undefined where the runtime looks the name up. */
  readonly address: string | undefined;
  failuresInRow: number;
  /** When it is tried again, by the monotonic clock; if that is past, it is up. */
  downUntilMs: number;
  lastFailure: SnowlaneError | undefined;
}

/** The next endpoint, and how long to wait before calling it. */
export interface Choice {
  readonly endpoint: Endpoint;
  readonly waitMs: number;
}

/** Makes an endpoint that is up. */
export function makeEndpoint(base: string, address?: string): Endpoint {
  const url = address === undefined ? base : `${base} [${address}]`;
  return { url, base, address, failuresInRow: 0, downUntilMs: -Infinity, lastFailure: undefined };
}

/** Clients that lose a server at the same moment move to the next one at random times within this span. */
const spreadMs = 20;
/**
 * A client moves to another server after a time between these two even without a failure, so that clients spread again
 * over servers that came back.
 */
const stayMinMs = 300_000;
const stayMaxMs = 900_000;

/**
 * Chooses among the servers of one deployment. It stays with one server, so that IDs rise, leaves it when it fails, and
 * never returns to it in step with other clients. docs/internals/client-contract.md has the rules.
 */
export class Endpoints {
  #endpoints: readonly Endpoint[];
  readonly #clock: Clock;
  readonly #random: () => number;
  #hasAnswered = false;
  #current: Endpoint;
  /** The endpoint that was last reported as the one in use. */
  #announced: Endpoint;
  #moveAtMs: number;
  /** Refills in a row whose second request was answered first, by another endpoint. */
  #hedgesWonInRow = 0;

  constructor(urls: readonly string[], clock: Clock, random: () => number) {
    this.#endpoints = urls.map((url) => makeEndpoint(url));
    this.#clock = clock;
    this.#random = random;
    this.#current = this.#draw(this.#endpoints);
    this.#announced = this.#current;
    this.#moveAtMs = this.#drawMove();
  }

  /** All endpoints. */
  get all(): readonly Endpoint[] {
    return this.#endpoints;
  }

  isDown({ downUntilMs }: Endpoint): boolean {
    return downUntilMs > this.#clock.monotonicMs();
  }

  /** Whether calls go to an endpoint now, and it answers. */
  isInUse(endpoint: Endpoint): boolean {
    return endpoint === this.#current && endpoint.failuresInRow === 0;
  }

  /** Whether the endpoint in use has changed since the last call of this method. */
  announce(): boolean {
    const hasMoved = this.#announced !== this.#current;
    this.#announced = this.#current;
    return hasMoved;
  }

  /** Puts endpoints in place of others. */
  replace(gone: readonly Endpoint[], come: readonly Endpoint[]): void {
    this.#endpoints = [...this.#endpoints.filter((endpoint) => !gone.includes(endpoint)), ...come];
    if (!gone.includes(this.#current)) return;
    // Replacing a name by its addresses does not count as a move.
    const isUntold = this.#announced === this.#current && this.#current.address === undefined;
    this.#current = this.#draw(this.#endpoints);
    this.#moveAtMs = this.#drawMove();
    if (isUntold) this.#announced = this.#current;
  }

  choose(): Choice {
    const nowMs = this.#clock.monotonicMs();
    const up = this.#endpoints.filter(({ downUntilMs }) => downUntilMs <= nowMs);
    if (up.length === 0) {
      this.#current = this.#endpoints.reduce((a, b) => (b.downUntilMs < a.downUntilMs ? b : a));
      return { endpoint: this.#current, waitMs: this.#current.downUntilMs - nowMs };
    }
    const isDown = !up.includes(this.#current);
    if (!isDown && nowMs < this.#moveAtMs) return { endpoint: this.#current, waitMs: 0 };
    this.#current = this.#draw(up);
    this.#moveAtMs = this.#drawMove();
    return { endpoint: this.#current, waitMs: isDown ? this.#random() * spreadMs : 0 };
  }

  /** The other endpoints that are up. */
  othersUp(endpoint: Endpoint): readonly Endpoint[] {
    const nowMs = this.#clock.monotonicMs();
    return this.#endpoints.filter((other) => other !== endpoint && other.downUntilMs <= nowMs);
  }

  /**
   * Records which endpoint was the first to answer a refill. The client moves to one that wins twice in a row although
   * it was asked later.
   */
  noteRefill(winner: Endpoint): void {
    this.#hedgesWonInRow = winner === this.#current ? 0 : this.#hedgesWonInRow + 1;
    if (this.#hedgesWonInRow < 2) return;
    this.#hedgesWonInRow = 0;
    this.#current = winner;
    this.#moveAtMs = this.#drawMove();
  }

  /** Records that a server answered, with success or an error. */
  noteAnswer(): void {
    this.#hasAnswered = true;
  }

  noteSuccess(endpoint: Endpoint): void {
    this.#hasAnswered = true;
    endpoint.failuresInRow = 0;
    endpoint.lastFailure = undefined;
  }

  /**
   * Records that an attempt failed: the endpoint is down for a while.
   *
   * @returns The error; if there is no server at any endpoint and no server ever answered, that of {@link
   *   neverAnswered}.
   */
  noteFailure(endpoint: Endpoint, error: SnowlaneError): SnowlaneError {
    endpoint.failuresInRow++;
    // Before the first answer, each call should fail within a second.
    const failureCount =
      !this.#hasAnswered && isAbsence(error) ? Math.min(endpoint.failuresInRow, 2) : endpoint.failuresInRow;
    const delayMs = backoffMs(failureCount, error.retryAfterMs, this.#random);
    endpoint.downUntilMs = this.#clock.monotonicMs() + delayMs;
    endpoint.lastFailure = error;
    const isFirst = !this.#hasAnswered && this.#endpoints.every(({ lastFailure }) => isAbsence(lastFailure));
    if (isFirst) endpoint.lastFailure = neverAnswered(error);
    return endpoint.lastFailure;
  }

  /**
   * Records that an attempt failed only because of its connection. The endpoint does not count as down for that, but
   * the next attempt goes to another that is up, if there is one.
   */
  noteDarkConnection(endpoint: Endpoint): void {
    const others = this.othersUp(endpoint);
    if (this.#current !== endpoint || others.length === 0) return;
    this.#current = this.#draw(others);
    this.#moveAtMs = this.#drawMove();
  }

  #draw(among: readonly Endpoint[]): Endpoint {
    return among[Math.floor(this.#random() * among.length)] as Endpoint;
  }

  #drawMove(): number {
    return this.#clock.monotonicMs() + stayMinMs + this.#random() * (stayMaxMs - stayMinMs);
  }
}
