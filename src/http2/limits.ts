/** Every limit of a connection, by name: RFC 9113 section 10.5 asks for them, the values are ours. */
import { framePayloadBytesMax, framePayloadBytesMin, windowBytesInitial, windowBytesMax } from "./frame.ts";

/** What a limit is, for configuration and documentation. */
export interface LimitDescription {
  readonly default: number;
  /** Inclusive. */
  readonly min: number;
  /** Inclusive; Infinity where the limit can be switched off. */
  readonly max: number;
  readonly unit: "count" | "bytes" | "ms" | "per second";
  readonly doc: string;
}

const countMax = 2 ** 31 - 1;

function count(initial: number, doc: string): LimitDescription {
  return { default: initial, min: 1, max: countMax, unit: "count", doc };
}

function perSecond(initial: number, doc: string): LimitDescription {
  return { default: initial, min: 1, max: countMax, unit: "per second", doc };
}

function duration(initial: number, doc: string): LimitDescription {
  return { default: initial, min: 1, max: Infinity, unit: "ms", doc };
}

/** The one table of limits. `Infinity` switches a duration off. */
export const limitTable = {
  concurrentStreamsMax: count(
    100,
    "Requests of one connection that may be open at once; more are refused with REFUSED_STREAM, which clients retry.",
  ),
  framePayloadBytesMax: {
    default: framePayloadBytesMin,
    min: framePayloadBytesMin,
    max: framePayloadBytesMax,
    unit: "bytes",
    doc: "The largest frame that a client may send; a larger one ends the connection. Frames that we send stay at 16,384.",
  },
  headerListBytesMax: {
    default: 16_384,
    min: 1_024,
    max: 2 ** 20,
    unit: "bytes",
    doc: "What the header fields of one request may weigh, decoded, 32 bytes a field included. A request above it is reset.",
  },
  headerFieldsMax: count(
    128,
    "Header fields that one request may have. A request above it is reset. Node's own server has the same limit.",
  ),
  headerBlockBytesMax: {
    default: 65_536,
    min: 1_024,
    max: 2 ** 21,
    unit: "bytes",
    doc: "What the header block of one request may take as it is sent, over all its frames. Above it the connection ends. More than proxies let through.",
  },
  continuationFramesMax: count(8, "CONTINUATION frames that one header block may have; more end the connection."),
  streamWindowBytes: {
    default: windowBytesInitial,
    min: windowBytesInitial,
    max: windowBytesMax,
    unit: "bytes",
    doc: "Bytes of one request's body that may wait to be read; the client is held back beyond.",
  },
  connectionWindowBytes: {
    default: 2 ** 20,
    min: windowBytesInitial,
    max: windowBytesMax,
    unit: "bytes",
    doc: "Bytes of all request bodies of a connection that may wait to be read.",
  },
  outputBytesMax: {
    default: 65_536,
    min: framePayloadBytesMin,
    max: windowBytesMax,
    unit: "bytes",
    doc: "Response bytes of a connection that are framed and not yet with its socket; bodies wait beyond, and with them their producers.",
  },
  resetBurst: count(
    400,
    "Requests that may end by a reset (the client's, or ours for its error) above the rate below, before the connection ends.",
  ),
  resetsPerSecond: perSecond(
    100,
    "How fast the allowance for resets comes back. Each request that ends well gives one back too, so a busy client may cancel as many as it completes.",
  ),
  settingsPerSecond: perSecond(100, "SETTINGS frames; more, after a burst of twice as many, end the connection."),
  pingsPerSecond: perSecond(
    20_000,
    "PING frames, likewise. High, because grpc-go measures its bandwidth by a PING for each burst that it reads.",
  ),
  emptyFramesPerSecond: perSecond(
    2_000,
    "Frames that carry nothing (DATA without bytes, PRIORITY, unknown types), likewise.",
  ),
  handshakeTimeoutMs: duration(10_000, "Until the client's preface and first SETTINGS must have come."),
  frameTimeoutMs: duration(10_000, "From the first byte of a frame, or of a header block, until its last."),
  bodyTimeoutMs: duration(60_000, "From a request's header until its body's end, while no response has begun."),
  stallTimeoutMs: duration(
    30_000,
    "How long response bytes may wait without any being taken: by the client's window, then the stream ends; by the socket, then the connection.",
  ),
  stallGraceMs: duration(
    30_000,
    "How much longer such a response may wait, if it ends in its own way, before its stream is reset.",
  ),
  idleTimeoutMs: duration(600_000, "How long a connection may have no open request before it is drained."),
  keepAliveIntervalMs: duration(60_000, "Silence of a client after which it is asked by a PING whether it is there."),
  keepAliveTimeoutMs: duration(20_000, "How long it may take to answer, by any byte, before the connection ends."),
  ageMaxMs: duration(
    Infinity,
    "Age at which a connection is drained, so that clients connect anew and spread over servers. Off by default.",
  ),
  drainTimeoutMs: duration(10_000, "How long requests may go on once a drain began; then they are cut."),
} as const satisfies Record<string, LimitDescription>;

export type LimitName = keyof typeof limitTable;

/** A value for each name of {@link limitTable}. */
export type Limits = Readonly<Record<LimitName, number>>;

/**
 * Completes limits with the defaults.
 *
 * @throws RangeError if one lies outside its range.
 */
export function createLimits(given: Partial<Limits> = {}): Limits {
  const names = Object.keys(limitTable) as readonly LimitName[];
  const limits = Object.fromEntries(names.map((name) => [name, given[name] ?? limitTable[name].default])) as Limits;
  for (const name of names) {
    const { min, max }: LimitDescription = limitTable[name];
    const value = limits[name];
    const isWhole = Number.isInteger(value) || value === Infinity;
    if (!isWhole || value < min || value > max) {
      throw new RangeError(`${name} is ${value}, it must be a whole number from ${min} to ${max}`);
    }
  }
  return limits;
}
