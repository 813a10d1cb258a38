/** Every limit of a connection, by name: RFC 9113 section 10.5 requires them, but the values are ours. */
import { framePayloadBytesMax, framePayloadBytesMin, windowBytesInitial, windowBytesMax } from "./frame.ts";

/** A limit, for configuration and documentation. */
export interface LimitDescription {
  readonly default: number;
  /** Inclusive. */
  readonly min: number;
  /** Inclusive; Infinity if the limit can be switched off. */
  readonly max: number;
  readonly unit: "count" | "bytes" | "ms" | "per second";
  readonly doc: string;
}

const countMax = 2 ** 31 - 1;

type Initial = Pick<LimitDescription, "default"> & Partial<Pick<LimitDescription, "min" | "max">>;

/** The lower end is 1 unless it is given; the upper end is {@link countMax}, and that of a duration is Infinity. */
function limit(unit: LimitDescription["unit"]): (initial: number | Initial, doc: string) => LimitDescription {
  const range = { min: 1, max: unit === "ms" ? Infinity : countMax };
  return (initial, doc) => ({ ...range, ...(typeof initial === "number" ? { default: initial } : initial), unit, doc });
}

const bytes = limit("bytes");
const count = limit("count");
const perSecond = limit("per second");
const duration = limit("ms");

/** The one table of limits. `Infinity` switches a duration off. docs/adr/0043 explains why each limit has a name. */
export const limitTable = {
  concurrentStreamsMax: count(
    100,
    "Requests of one connection that may be open at once; more are refused with REFUSED_STREAM, which clients retry.",
  ),
  framePayloadBytesMax: bytes(
    { default: framePayloadBytesMin, min: framePayloadBytesMin, max: framePayloadBytesMax },
    "Size of a frame that a client may send; a larger one ends the connection. Frames that the server sends have at most 16,384 bytes.",
  ),
  headerListBytesMax: bytes(
    { default: 16_384, min: 1_024, max: 2 ** 20 },
    "Size of the decoded header fields of one request, with 32 bytes for each field. A larger request is answered with 431, or RESOURCE_EXHAUSTED.",
  ),
  headerFieldsMax: count(
    128,
    "Header fields of one request. A request with more is answered likewise. node:http2 has the same limit.",
  ),
  headerBlockBytesMax: bytes(
    { default: 65_536, min: 1_024, max: 2 ** 21 },
    "Size of the encoded header block of one request, over all its frames. A larger one ends the connection. Proxies allow less.",
  ),
  continuationFramesMax: count(8, "CONTINUATION frames of one header block; more end the connection."),
  streamWindowBytes: bytes(
    { default: windowBytesInitial, min: windowBytesInitial, max: windowBytesMax },
    "Bytes of one request's body that may wait to be read. The client must not send more until they are.",
  ),
  connectionWindowBytes: bytes(
    { default: 2 ** 20, min: windowBytesInitial, max: windowBytesMax },
    "Bytes of all request bodies of one connection that may wait to be read.",
  ),
  outputBytesMax: bytes(
    { default: 65_536, min: framePayloadBytesMin, max: windowBytesMax },
    "Response bytes of one connection that are framed and not yet written to its socket. Bodies beyond it wait, and their handlers with them.",
  ),
  resetBurst: count(
    400,
    "Requests that the server may have to reset, for errors of the client's or faults, above the rate below, before the connection ends.",
  ),
  resetsPerSecond: perSecond(100, "Such resets that are allowed per second in the long run."),
  cancelsPerSecond: perSecond(
    1_000,
    "Requests that the client may cancel. Twice as many may come at once; beyond that the connection is read more slowly. Each request that ends well allows one more.",
  ),
  settingsPerSecond: perSecond(100, "SETTINGS frames. Twice as many may arrive at once; more end the connection."),
  pingsPerSecond: perSecond(
    20_000,
    "PING frames, likewise. High, because grpc-go measures its bandwidth by one PING for each burst that it reads.",
  ),
  windowUpdatesPerSecond: perSecond(
    50_000,
    "WINDOW_UPDATE frames, likewise, beyond two for each DATA frame that the server sent.",
  ),
  emptyFramesPerSecond: perSecond(
    2_000,
    "Frames without content (DATA without bytes, or of fewer than 64 behind the first 64 of a body; PRIORITY, acknowledgements, unknown types), likewise.",
  ),
  handshakeTimeoutMs: duration(
    10_000,
    "Time from the start of a connection until the client's preface and first SETTINGS have arrived.",
  ),
  frameTimeoutMs: duration(10_000, "Time from the first byte of a frame, or of a header block, until its last."),
  bodyTimeoutMs: duration(
    60_000,
    "Time from a request's header until the end of its body, while no response has begun.",
  ),
  stallTimeoutMs: duration(
    30_000,
    "How long response bytes may wait while the client takes less than a frame of 16,384 of them. If its window is closed, the stream ends; if its socket is full, the connection ends.",
  ),
  stallGraceMs: duration(
    5_000,
    "How much longer a stalled response may take to end in its own way, before its stream is reset with REFUSED_STREAM.",
  ),
  idleTimeoutMs: duration(600_000, "How long a connection may have no open request before it is drained."),
  keepAliveIntervalMs: duration(60_000, "How long a client may be silent before the server sends it a PING."),
  keepAliveTimeoutMs: duration(
    20_000,
    "How long the client may take to answer that PING, by any byte, before the connection ends.",
  ),
  ageMaxMs: duration(
    Infinity,
    "Age by which a connection is drained, from nine tenths of it on, so that clients connect again and spread over servers. Off by default.",
  ),
  drainTimeoutMs: duration(10_000, "How long requests may go on after a drain began, before they are cut."),
} as const satisfies Record<string, LimitDescription>;

export type LimitName = keyof typeof limitTable;

/** A value for each name of {@link limitTable}. */
export type Limits = Readonly<Record<LimitName, number>>;

/**
 * Completes limits with the defaults.
 *
 * @throws RangeError if one is outside of its range.
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
