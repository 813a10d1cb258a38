import type { Interceptor, Transport } from "@connectrpc/connect";
import type { Layout } from "../../../src/snowflake/layout.ts";
import type { Clock } from "./clock.ts";
import { SnowlaneError } from "./errors.ts";
import { checkOptionKinds, isObject, kinds, type OptionKinds } from "./known-options.ts";
import type { ClientObserver } from "./observer.ts";
import type { ClientLogger } from "./states.ts";

/** A bearer token, or a function that returns one for each attempt. */
export type Token = string | (() => string | Promise<string>);

/** Options of a client, wherever it runs. */
export interface ClientOptions {
  /**
   * `http://HOST:PORT` (plaintext), `https://HOST:PORT` (TLS), or under Node `unix:/PATH` (a socket of this machine); they
   * must serve one deployment. Default: `http://127.0.0.1:7609`.
   */
  readonly endpoints?: readonly string[];
  /**
   * Sent as `authorization: Bearer TOKEN`. Refused over plaintext to a host that is not loopback, unless
   * `insecureToken` is true.
   */
  readonly token?: Token;
  /** Sends the token also over plaintext to hosts that are not loopback. Default: false. */
  readonly insecureToken?: boolean;
  /** Deadline of a call whose caller sets none; it covers all attempts and waits. Default: 5,000 ms. */
  readonly timeoutMs?: number;
  /** The longest that one attempt may take. Default: 2,000 ms. */
  readonly attemptTimeoutMs?: number;
  /** The most attempts after the first, 0 to 3. Default: 3. */
  readonly retryMax?: number;
  /** Functions that the client calls to report what it does. Default: none. */
  readonly observer?: ClientObserver;
  /**
   * Gets a line when refills begin to fail and when they work again, when the client moves to another endpoint or
   * replaces a connection, and when a server belongs to another deployment; at most one line of each kind a minute.
   * `console` is one. Default: none.
   */
  readonly logger?: ClientLogger;
  /** Connect interceptors for each RPC, for example for traces. Default: none. */
  readonly interceptors?: readonly Interceptor[];
  /**
   * The fingerprint of the deployment whose IDs may be used, as `snowlane doctor` shows it, or a list of them. List
   * several only if their IDs are known to differ. Default: the first deployment that answers.
   */
  readonly deployment?: string | readonly string[];
  /** The deployment's layout, for offline work. Default: a server is asked for it once. */
  readonly layout?: Layout;
  /** Marks the UUIDs of the deployment. Default: `default`. */
  readonly namespace?: string;
  /** Replaced in tests. Default: the clock of the runtime. */
  readonly clock?: Clock;
  /** From 0 to below 1; for jitter and the choice of endpoints. Default: Math.random. */
  readonly random?: () => number;
}

/** What the options of every client must be. */
export const clientOptionKinds: OptionKinds<ClientOptions> = {
  endpoints: kinds.checkedElsewhere,
  token: kinds.checkedElsewhere,
  insecureToken: kinds.flag,
  timeoutMs: kinds.checkedElsewhere,
  attemptTimeoutMs: kinds.checkedElsewhere,
  retryMax: kinds.checkedElsewhere,
  observer: kinds.observer,
  logger: kinds.logger,
  interceptors: {
    what: "an array of functions",
    accepts: (value) => Array.isArray(value) && value.every((interceptor) => typeof interceptor === "function"),
  },
  deployment: kinds.checkedElsewhere,
  layout: {
    what: 'a layout, such as presetLayout("twitter")',
    accepts: (value) => isObject(value) && "stride" in value && "timestamp" in value,
  },
  namespace: kinds.string,
  clock: kinds.clock,
  random: kinds.random,
};

/** A way to one endpoint. Opened when the endpoint is first used. */
export interface Channel {
  /** Ends each call when its deadline passes or its signal aborts, whatever happens to the connection. */
  readonly transport: Transport;
  /** Whether a call needs no new connection. If it is absent, that is unknown. */
  readonly isOpen?: boolean;
  /** Opens a second way to the endpoint, over a new connection; undefined if none may be opened now. */
  second?(): SecondChannel | undefined;
  /** Closes it after its last call. If it is absent, `close` is called when the client closes. */
  retire?(): void;
  close(): void;
}

/** A second connection to an endpoint. */
export interface SecondChannel {
  readonly transport: Transport;
  /** Ends its use: `won` puts it in place of the first. */
  settle(outcome: "won" | "lost"): void;
}

/** Options of a channel, beside its endpoint. */
export interface ChannelDetails {
  /** The address of the endpoint's name to call. Default: the runtime looks the name up. */
  readonly address?: string;
  /** Called when a connection that answered nothing is replaced. */
  readonly onReplaced?: () => void;
}

/** How a runtime makes channels: the part in which the entry points differ. */
export type OpenChannel = (endpoint: string, details: ChannelDetails) => Channel;

/** Looks up the addresses of a host name, in the order in which to try them. */
export type LookUp = (host: string) => Promise<readonly string[]>;

const timeoutMsMax = 2 ** 31 - 1;

/**
 * Checks options, all of them.
 *
 * @returns The endpoints in their canonical spelling.
 * @throws RangeError, TypeError.
 */
export function checkOptions(options: ClientOptions): readonly string[] {
  checkOptionKinds(options, clientOptionKinds);
  const { endpoints = ["http://127.0.0.1:7609"], timeoutMs = 1, attemptTimeoutMs = 1, retryMax = 0, token } = options;
  if (!Array.isArray(endpoints))
    throw new TypeError('endpoints must be an array, for example ["http://127.0.0.1:7609"].');
  if (endpoints.length === 0) throw new RangeError("endpoints is empty: give at least one.");
  for (const [name, value] of Object.entries({ timeoutMs, attemptTimeoutMs })) {
    if (!Number.isFinite(value) || value <= 0 || value > timeoutMsMax)
      throw new RangeError(`${name} is ${value}: it must be above 0 and below 2^31.`);
  }
  if (![0, 1, 2, 3].includes(retryMax)) throw new RangeError(`retryMax is ${retryMax}: it must be 0, 1, 2 or 3.`);
  checkDeployment(options);
  if (token !== undefined && typeof token !== "string" && typeof token !== "function")
    throw new TypeError("token is neither a string nor a function.");
  return endpoints.map((endpoint: unknown) => checkEndpoint(endpoint, options));
}

/** Returns the fingerprints of the option `deployment`; undefined without it. */
export function deploymentsOf({ deployment }: ClientOptions): readonly string[] | undefined {
  return typeof deployment === "string" ? [deployment] : deployment;
}

function checkDeployment(options: ClientOptions): void {
  const fingerprints: unknown = deploymentsOf(options) ?? [""];
  if (!Array.isArray(fingerprints) || fingerprints.length === 0)
    throw new TypeError("deployment must be a fingerprint, or an array of at least one.");
  if (options.deployment === undefined) return;
  for (const fingerprint of fingerprints as readonly unknown[]) {
    if (typeof fingerprint !== "string" || !/^[\da-f]{8,32}$/i.test(fingerprint))
      throw new TypeError(`deployment is ${String(fingerprint)}: it must be 8 to 32 hexadecimal digits.`);
  }
}

/** @param given - A string, where the caller keeps to the types. */
function checkEndpoint(given: unknown, { token, insecureToken = false }: ClientOptions): string {
  const endpoint = String(given);
  if (isSocket(endpoint)) return endpoint;
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:") || url.port === "0") {
    // The part before an @ may be a password.
    const shown = endpoint.replace(/^.*@/s, "…@");
    throw new TypeError(`The endpoint ${shown} is neither http://HOST:PORT, https://HOST:PORT nor unix:/PATH.`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new TypeError(`The endpoint ${url.origin} has more than scheme, host, port and path.`);
  }
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (token !== undefined && url.protocol === "http:" && !isLoopback && !insecureToken) {
    throw new TypeError(`A token would go to ${endpoint} in plaintext: use https, or set insecureToken.`);
  }
  return url.href.replace(/\/$/, "");
}

/** Whether an endpoint is a Unix socket: `unix:` and a whole path. */
export function isSocket(endpoint: string): boolean {
  return /^unix:\/[^\0]{1,106}$/.test(endpoint);
}

/**
 * Returns the time that a call may take, cut to what timers can count.
 *
 * @throws RangeError, if it is NaN.
 */
export function callTimeoutMs(timeoutMs: number): number {
  if (Number.isNaN(timeoutMs)) throw new RangeError("timeoutMs is NaN: it must be a number of milliseconds.");
  return Math.min(Math.max(timeoutMs, 0), timeoutMsMax);
}

/**
 * Returns the header value for a token. White space around the token is dropped, because a file often ends in a line
 * break.
 *
 * @throws SnowlaneError RPC_FAILED, if there is no token, or it is not a valid one.
 */
export async function bearerOf(token: Token): Promise<string> {
  let text: unknown;
  try {
    text = typeof token === "string" ? token : await token();
  } catch (error) {
    throw SnowlaneError.from(error);
  }
  const trimmed = typeof text === "string" ? text.trim() : "";
  if (!/^[ -~]+$/.test(trimmed)) {
    const message = "The token is not one line of printable ASCII characters.";
    throw new SnowlaneError("RPC_FAILED", message, { code: "UNAUTHENTICATED" });
  }
  return `Bearer ${trimmed}`;
}
