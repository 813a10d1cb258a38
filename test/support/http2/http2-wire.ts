/**
 * HTTP/2 by hand, the client's side: frames to bytes, bytes to frames, and a connection whose every event is written
 * down.
 */
import { Connection } from "../../../src/http2/connection.ts";
import { errorCode } from "../../../src/http2/error-code.ts";
import type { Field } from "../../../src/http2/hpack/field.ts";
import { frameFlag, frameType, preface } from "../../../src/http2/frame.ts";
import { HpackDecoder } from "../../../src/http2/hpack/decoder.ts";
import { encodeFields } from "../../../src/http2/hpack/encoder.ts";
import { createLimits, type Limits } from "../../../src/http2/limits.ts";
import { SlabPool } from "../../../src/http2/output-buffer.ts";
import type { ServerStream, StreamHandler } from "../../../src/http2/stream.ts";

/** One frame; `payload` as hex where it is text. */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array | string = ""): Buffer {
  const body = typeof payload === "string" ? Buffer.from(payload.replaceAll(" ", ""), "hex") : payload;
  const header = Buffer.alloc(9);
  header.writeUIntBE(body.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, body]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function settings(...values: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = values.map(([id, value]) => Buffer.concat([Buffer.of(id >> 8, id & 255), uint32(value)]));
  return frame(frameType.settings, 0, 0, Buffer.concat(payload));
}

export const settingsAck: Buffer = frame(frameType.settings, frameFlag.ack, 0);

export type FieldPairs = readonly (readonly [name: string, value: string])[];

function rawString(value: string): Buffer {
  const bytes = Buffer.from(value, "latin1");
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes]);
  const rest: number[] = [];
  let left = bytes.length - 127;
  for (; left > 127; left >>>= 7) rest.push((left & 127) | 128);
  return Buffer.concat([Buffer.of(127, ...rest, left), bytes]);
}

/** Literals without a table, pseudo fields and malformed ones too, which our encoder refuses. */
export function rawBlock(fields: FieldPairs): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), rawString(name), rawString(value)]));
}

/** A block that puts its fields into the peer's table. */
export function indexedBlock(fields: FieldPairs): Buffer {
  const blocks = fields.map((field) => rawBlock([field]));
  for (const block of blocks) block[0] = 0x40;
  return Buffer.concat(blocks);
}

export const requestFields: FieldPairs = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/a"],
  [":authority", "example.com"],
];

/** A request's HEADERS. */
export function headers(streamId: number, then: "body" | "end", fields: FieldPairs = requestFields): Buffer {
  const flags = frameFlag.endHeaders | (then === "end" ? frameFlag.endStream : 0);
  return frame(frameType.headers, flags, streamId, rawBlock(fields));
}

export function data(streamId: number, bytes: Uint8Array | number, then: "more" | "end" = "more"): Buffer {
  const payload = typeof bytes === "number" ? Buffer.alloc(bytes, 0x61) : bytes;
  return frame(frameType.data, then === "end" ? frameFlag.endStream : 0, streamId, payload);
}

export function rstStream(streamId: number, code: number = errorCode.cancel): Buffer {
  return frame(frameType.rstStream, 0, streamId, uint32(code));
}

export function windowUpdate(streamId: number, bytes: number): Buffer {
  return frame(frameType.windowUpdate, 0, streamId, uint32(bytes));
}

export function ping(text = "12345678", flags = 0): Buffer {
  return frame(frameType.ping, flags, 0, Buffer.from(text, "latin1"));
}

export function goAway(code: number = errorCode.noError): Buffer {
  return frame(frameType.goAway, 0, 0, Buffer.concat([uint32(0), uint32(code)]));
}

/** The first bytes of a client. */
export const hello: Buffer = Buffer.concat([preface, settings()]);

export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** Cuts bytes into frames; throws if they end inside one. */
export function parseFrames(bytes: Buffer): readonly ReceivedFrame[] {
  const frames: ReceivedFrame[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end > bytes.length) throw new Error("the output ends inside a frame");
    frames.push({
      type: bytes[at + 3]!,
      flags: bytes[at + 4]!,
      streamId: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + 9, end),
    });
    at = end;
  }
  return frames;
}

const typeNames = Object.fromEntries(Object.entries(frameType).map(([name, type]) => [type, name]));
const codeNames = Object.fromEntries(Object.entries(errorCode).map(([name, code]) => [code, name]));

/** Reads a server's output: one line a frame, header blocks decoded. */
export class OutputReader {
  readonly #decoder = new HpackDecoder(1e6, 1e6);

  lines(frames: readonly ReceivedFrame[]): readonly string[] {
    return frames.map((frame) => this.#line(frame));
  }

  #line({ type, flags, streamId, payload }: ReceivedFrame): string {
    const end = (flags & frameFlag.endStream) !== 0 ? " end" : "";
    switch (type) {
      case frameType.data:
        return `data ${streamId} ${payload.length}${end}`;
      case frameType.headers: {
        const fields = this.#decoder.decode(payload, 0, payload.length);
        return `headers ${streamId} ${fields.map(({ name, value }) => `${name}=${value}`).join(" ")}${end}`;
      }
      case frameType.rstStream:
        return `rstStream ${streamId} ${codeNames[payload.readUInt32BE(0)]}`;
      case frameType.goAway:
        return `goAway ${payload.readUInt32BE(0)} ${codeNames[payload.readUInt32BE(4)]}`;
      case frameType.settings:
        return (flags & frameFlag.ack) === 0 ? "settings" : "settings ack";
      case frameType.ping:
        return `ping${(flags & frameFlag.ack) === 0 ? "" : " ack"} ${payload.toString("latin1")}`;
      case frameType.windowUpdate:
        return `windowUpdate ${streamId} ${payload.readUInt32BE(0)}`;
      default:
        return `${typeNames[type] ?? type} ${streamId}`;
    }
  }
}

export const okBlock: Buffer = encodeFields([[":status", "200"]]);

const tooLargeBlock = encodeFields([[":status", "431"]]);

/** Refuses a request whose header fields are over the limits. */
export function refuseCut(stream: ServerStream): StreamHandler {
  stream.respond(tooLargeBlock, "end");
  return {};
}

/** Reads the body as it comes and answers with `size` bytes at the end. */
export function echoHandler(size = 5): StreamHandler {
  return {
    onData: (stream, _bytes, start, end) => stream.consume(end - start),
    onEnd: (stream) => {
      stream.respond(okBlock, "body");
      stream.write(Buffer.alloc(size, 0x62));
      stream.end();
    },
  };
}

export interface HarnessOptions {
  readonly limits?: Partial<Limits>;
  readonly onRequest?: (stream: ServerStream) => StreamHandler;
  /** Whether the preface and SETTINGS are sent at once, and the answer dropped. */
  readonly greeted?: boolean;
}

/** A connection without a socket: what goes in is frames, what comes out is lines. Its clock moves by hand. */
export class Harness {
  readonly events: string[] = [];
  readonly faults: unknown[] = [];
  readonly streams: ServerStream[] = [];
  readonly connection: Connection;
  readonly reader = new OutputReader();
  nowMs = 1_000_000;
  outputAsked = 0;

  constructor({ limits = {}, onRequest = () => echoHandler(), greeted = true }: HarnessOptions = {}) {
    const host = {
      onRequest: (stream: ServerStream): StreamHandler => {
        this.streams.push(stream);
        this.events.push(`request ${stream.id} ${stream.head.method} ${stream.head.path}`);
        return this.#recording(onRequest(stream));
      },
      onCutRequest: refuseCut,
      onFault: (error: unknown): void => void this.faults.push(error),
    };
    const onOutput = (): void => void this.outputAsked++;
    this.connection = new Connection(host, onOutput, createLimits(limits), new SlabPool(), this.nowMs);
    if (greeted) this.exchange(hello);
  }

  /** Sends bytes and returns the answer, one line a frame. */
  exchange(...parts: readonly Buffer[]): readonly string[] {
    this.connection.receive(Buffer.concat(parts), this.nowMs);
    return this.output();
  }

  /** Lets time pass, with a look every half second. */
  wait(ms: number): readonly string[] {
    const endMs = this.nowMs + ms;
    while (this.nowMs < endMs) {
      this.nowMs = Math.min(endMs, this.nowMs + 500);
      this.connection.advance(this.nowMs);
    }
    return this.output();
  }

  output(): readonly string[] {
    return this.reader.lines(parseFrames(this.rawOutput()));
  }

  rawOutput(): Buffer {
    const parts: Buffer[] = [];
    for (let bytes = this.connection.output(); bytes !== undefined; bytes = this.connection.output()) {
      parts.push(Buffer.from(bytes));
      this.connection.onWritten("flushed");
    }
    return Buffer.concat(parts);
  }

  #stall(stream: ServerStream, handler: StreamHandler): void {
    this.events.push(`stall ${stream.id}`);
    handler.onStall?.(stream);
  }

  #recording(handler: StreamHandler): StreamHandler {
    const { events } = this;
    return {
      onData(stream, bytes, start, end) {
        events.push(`data ${stream.id} ${bytes.toString("hex", start, end)}${stream.hasEnded ? " last" : ""}`);
        handler.onData?.(stream, bytes, start, end);
      },
      onEnd(stream, trailers: readonly Field[]) {
        events.push(`end ${stream.id} ${trailers.map(({ name, value }) => `${name}=${value}`).join(" ")}`.trim());
        handler.onEnd?.(stream, trailers);
      },
      onWritable(stream) {
        events.push(`writable ${stream.id}`);
        handler.onWritable?.(stream);
      },
      ...(handler.onStall === undefined ? {} : { onStall: (stream) => this.#stall(stream, handler) }),
      onAbort(stream, code) {
        events.push(`abort ${stream.id} ${codeNames[code] ?? code}`);
        handler.onAbort?.(stream, code);
      },
    };
  }
}
