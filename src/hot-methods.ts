/**
 * NextId, BatchNextIds and ReserveIds from bytes to bytes: what they do is the service's (service/issue-ids.ts), only
 * reading the request and writing the response is done here, without an object for each message. Everything that is not
 * plain and simple goes the way of all other methods: texts beside the IDs, unknown fields, numbers beyond what is
 * sensible.
 */
import { assert } from "./assert.ts";
import { readBatchRequest, readReserveRequest } from "./hot-requests.ts";
import { type CallContext, checkBatch, checkReserveCount, draw, type IssueOptions } from "./service/issue-ids.ts";
import { IdWords } from "./snowflake/id-words.ts";
import { type IdRun, writeRun } from "./snowflake/run.ts";

/**
 * The messages of a stream, one after another: framed as {@link HotMethod} says, valid until the next is asked for;
 * undefined at the end.
 */
export interface HotStream {
  next(): Uint8Array | Promise<Uint8Array | undefined> | undefined;
}

/**
 * What a hot method answers: a framed message that is valid until any method is called, a promise of one that stays
 * valid, or a stream. A framed message has gRPC's prefix: a byte 0 for "not compressed", and its length in four bytes.
 */
export type HotAnswer = Uint8Array | Promise<Uint8Array> | HotStream;

/** A call whose request was read. @throws What the service throws, also as rejection. */
type HotOperation = (context: HotContext) => HotAnswer;

/** What a hot method knows of its call, and may say beside its messages. */
export interface HotContext extends CallContext {
  /** Fields of the request's head, names in lower case. */
  readonly requestFields: readonly { readonly name: string; readonly value: string }[];
  /** Sent with the response's head; to be set before the first message. */
  responseFields: readonly (readonly [name: string, value: string])[];
  /** Sent with the response's trailers, or with the error that ends it. */
  responseTrailers: readonly (readonly [name: string, value: string])[];
}

/** A method that is called by its bytes. */
export interface HotMethod {
  /** `/` package.Service `/` Method. */
  readonly path: string;
  /**
   * Reads a request, and does nothing else: who may call is asked between reading and doing. Undefined if it is not
   * plain, so that the call has to go the way of all others.
   *
   * @param message - The request, without prefix. Only lent.
   */
  readonly read: (message: Buffer) => HotOperation | undefined;
}

/** One byte for "not compressed", four for the length: gRPC over HTTP/2, "Length-Prefixed-Message". */
export const prefixBytes = 5;

/** The hot methods of IdService. */
export function createHotMethods(options: IssueOptions): readonly HotMethod[] {
  return [
    { path: "/snowlane.v1.IdService/NextId", read: createNextId(options) },
    { path: "/snowlane.v1.IdService/ReserveIds", read: (message) => readReserveIds(options, message) },
    { path: "/snowlane.v1.IdService/BatchNextIds", read: (message) => readBatchNextIds(options, message) },
  ];
}

/** Field 1 as fixed64; field 2 as varint; field 3 as fixed64: number of the field times eight, plus the wire type. */
const field1Fixed64 = 0x09;
const field1Bytes = 0x0a;
const field2Varint = 0x10;
const field3Fixed64 = 0x19;

const words = new IdWords();

function createNextId(options: IssueOptions): HotMethod["read"] {
  const { source } = options;
  const answer = Buffer.from([0, 0, 0, 0, 9, field1Fixed64, 0, 0, 0, 0, 0, 0, 0, 0]);
  const write = (id: bigint): Uint8Array => {
    writeFixed64(answer, prefixBytes + 1, id);
    return answer;
  };
  const wait = async (context: CallContext): Promise<Uint8Array> => {
    const { runs } = await draw(options, { count: 1, priority: "unary" }, context);
    // A copy: several waiting calls are answered in one turn, before the first one's answer is sent.
    return Uint8Array.from(write(runs[0]!.firstId));
  };
  const next: HotOperation = (context) => {
    const id = source.tryNext();
    return id === undefined ? wait(context) : write(id);
  };
  return (message) => (message.length === 0 ? next : undefined);
}

function readReserveIds(options: IssueOptions, message: Buffer): HotOperation | undefined {
  const count = readReserveRequest(message);
  if (count === undefined) return undefined;
  return (context) => {
    checkReserveCount(options, count);
    const drawn = draw(options, { count, priority: "bulk" }, context);
    return drawn instanceof Promise ? drawn.then(({ runs }) => encodeRuns(runs)) : encodeRuns(drawn.runs);
  };
}

/** The most that an IdRun takes with its tag and length: 2 + 9 + 6 + 9. */
const runBytesMax = 26;

function encodeRuns(runs: readonly IdRun[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(prefixBytes + runs.length * runBytesMax);
  let at = prefixBytes;
  for (const { firstId, count, stride } of runs) {
    const lengthAt = at + 1;
    bytes[at] = field1Bytes;
    at = lengthAt + 1;
    bytes[at] = field1Fixed64;
    at = writeFixed64(bytes, at + 1, firstId);
    bytes[at] = field2Varint;
    at = writeVarint(bytes, at + 1, count);
    bytes[at] = field3Fixed64;
    at = writeFixed64(bytes, at + 1, stride);
    bytes[lengthAt] = at - lengthAt - 1;
  }
  writePrefix(bytes, 0, at - prefixBytes);
  return bytes.subarray(0, at);
}

/** Whether a Uint32Array writes the lowest byte first, as protobuf wants it. */
const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

function readBatchNextIds(options: IssueOptions, message: Buffer): HotOperation | undefined {
  const request = isLittleEndian ? readBatchRequest(message) : undefined;
  if (request === undefined) return undefined;
  return (context) => {
    const chunkSize = checkBatch(options, BigInt(request.count), request.chunkSize);
    return new Batch(options, request.count, chunkSize, context);
  };
}

/** Room for prefix, tag and length before the IDs, so that they stand where a Uint32Array can write them. */
const chunkHeadBytes = 12;

/** A BatchNextIds call. IDs are drawn when they are asked for: the reader sets the pace. */
class Batch implements HotStream {
  readonly #options: IssueOptions;
  readonly #chunkSize: number;
  readonly #context: CallContext;
  #left: number;
  #epoch: number | undefined;
  #bytes: Buffer | undefined;

  constructor(options: IssueOptions, count: number, chunkSize: number, context: CallContext) {
    this.#options = options;
    this.#left = count;
    this.#chunkSize = chunkSize;
    this.#context = context;
  }

  next(): Uint8Array | Promise<Uint8Array> | undefined {
    if (this.#left === 0) return undefined;
    const count = Math.min(this.#left, this.#chunkSize);
    const drawn = draw(this.#options, { count, priority: "bulk", epoch: this.#epoch }, this.#context);
    if (drawn instanceof Promise) return drawn.then(({ runs, count, epoch }) => this.#encode(runs, count, epoch));
    return this.#encode(drawn.runs, drawn.count, drawn.epoch);
  }

  #encode(runs: readonly IdRun[], count: number, epoch: number): Uint8Array {
    assert(count <= this.#left, "I3: a stream was given more IDs than it asked for");
    this.#epoch = epoch;
    this.#left -= count;
    const bytes = this.#room(count);
    const ids = new Uint32Array(bytes.buffer, bytes.byteOffset + chunkHeadBytes, count * 2);
    let at = 0;
    for (const run of runs) at = writeRun(run, ids, at);
    const idBytes = count * 8;
    const start = chunkHeadBytes - prefixBytes - 1 - varintBytes(idBytes);
    writePrefix(bytes, start, chunkHeadBytes - start - prefixBytes + idBytes);
    bytes[start + prefixBytes] = field1Bytes;
    writeVarint(bytes, start + prefixBytes + 1, idBytes);
    return bytes.subarray(start, chunkHeadBytes + idBytes);
  }

  #room(count: number): Buffer {
    const bytes = chunkHeadBytes + count * 8;
    if (this.#bytes === undefined || this.#bytes.length < bytes) this.#bytes = Buffer.allocUnsafeSlow(bytes);
    return this.#bytes;
  }
}

function writePrefix(bytes: Buffer, at: number, messageBytes: number): void {
  bytes[at] = 0;
  bytes[at + 1] = messageBytes >>> 24;
  bytes[at + 2] = messageBytes >>> 16;
  bytes[at + 3] = messageBytes >>> 8;
  bytes[at + 4] = messageBytes;
}

/** Writes eight bytes, lowest first, and returns where they end. */
function writeFixed64(bytes: Buffer, at: number, value: bigint): number {
  words.id = value;
  writeUint32(bytes, at, words.low);
  writeUint32(bytes, at + 4, words.high);
  return at + 8;
}

function writeUint32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes++;
  return bytes;
}

/** Writes a number below 2^32, and returns where it ends. */
function writeVarint(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
  bytes[at++] = rest;
  return at;
}
