import type { Clock } from "../../clock/clock.ts";
import { type CallNotes, newNotes } from "./call-guard.ts";
import type { CrossOrigin } from "./cors.ts";
import { connectEnvelope, connectStreamEnvelope } from "./envelope/connect.ts";
import type { Envelope } from "./envelope/envelope.ts";
import { grpcEnvelope } from "./envelope/grpc.ts";
import { grpcWebEnvelope } from "./envelope/grpc-web.ts";
import { createJsonReader, type JsonReader } from "./envelope/json-request.ts";
import { createJsonWriter, type JsonWriter } from "./envelope/json-response.ts";
import { timeoutMsMax } from "./envelope/grpc-timeout.ts";
import type { HotMethod } from "../../service/hot/hot-method.ts";
import { type MethodTraits, traitsOf } from "./method-table.ts";
import { type EncodeHead, ResponseHeads } from "./response-heads.ts";

/** The head of a request, whatever carries it. */
export interface CallHead {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly fields: readonly { readonly name: string; readonly value: string }[];
}

/** All that the head of a plain call of a hot method says. */
export interface HotRoute<Block> {
  readonly method: HotMethod;
  readonly traits: MethodTraits;
  readonly notes: CallNotes;
  readonly envelope: Envelope;
  /** Absent for the binary form. */
  readonly json: { readonly read: JsonReader; readonly write: JsonWriter } | undefined;
  readonly heads: ResponseHeads<Block>;
  /** The time from the arrival of the head until the deadline; undefined where there is no deadline. */
  readonly timeoutMs: number | undefined;
}

/** The protocols over HTTP/2, and over HTTP/1.1, which offers no usable trailers, so no gRPC. */
export const envelopesOf = {
  "HTTP/2": [grpcEnvelope, grpcWebEnvelope, connectEnvelope, connectStreamEnvelope],
  "HTTP/1.1": [grpcWebEnvelope, connectEnvelope, connectStreamEnvelope],
} as const satisfies Readonly<Record<string, readonly Envelope[]>>;

/** The methods that are answered on bytes, and the protocols and fields of their answers. */
export interface HotRoutesOptions<Block> {
  /** The hot methods of all services that are served. */
  readonly methods: readonly HotMethod[];
  /** The protocols in which they are called. */
  readonly envelopes: readonly Envelope[];
  /** The other origins whose pages may call. */
  readonly crossOrigin: CrossOrigin;
  /** Encodes the head of an answer for the connection. */
  readonly encode: EncodeHead<Block>;
  /** The clock of the responses' dates. Absent where the carrier adds dates itself. */
  readonly dateClock: Clock | undefined;
}

/** One hot method under one content type. */
type Entry<Block> = Omit<HotRoute<Block>, "timeoutMs" | "notes">;

/**
 * Reads the heads of requests. docs/adr/0120 says what is hot.
 *
 * A call is hot if it is a POST of a hot method with a content type and fields that its {@link Envelope} calls plain,
 * each once. Calls of another method or codec, with compressed messages or with a malformed timeout go the general way,
 * which answers or refuses them.
 */
export class HotRoutes<Block> {
  readonly #entries = new Map<string, ReadonlyMap<string, Entry<Block>>>();
  readonly #crossOrigin: CrossOrigin;

  constructor({ methods, envelopes, crossOrigin, encode, dateClock }: HotRoutesOptions<Block>) {
    this.#crossOrigin = crossOrigin;
    for (const method of methods) {
      const { descriptor } = method;
      const traits = traitsOf(pathOf(method));
      const json = { read: createJsonReader(descriptor.input), write: createJsonWriter(descriptor.output) };
      const entries = new Map<string, Entry<Block>>();
      for (const envelope of envelopes) {
        if (envelope.methods !== "both" && envelope.methods !== descriptor.methodKind) continue;
        for (const [contentType, { codec, response }] of Object.entries(envelope.contentTypes)) {
          if (codec === "json" && !method.hasPlainJson) continue;
          const clock = envelope.hasDate ? dateClock : undefined;
          entries.set(contentType, {
            method,
            traits,
            envelope,
            json: codec === "json" ? json : undefined,
            heads: new ResponseHeads({ encode, contentType: response, marks: [], clock }),
          });
        }
      }
      this.#entries.set(traits.path, entries);
    }
  }

  /** Gives the route of a request; undefined for every request that takes the general way. */
  read(head: CallHead): HotRoute<Block> | undefined {
    const entries = head.method === "POST" ? this.#entries.get(head.path) : undefined;
    if (entries === undefined) return undefined;
    let entry: Entry<Block> | undefined;
    let origin = "";
    for (const { name, value } of head.fields) {
      if (name === "content-type") {
        if (entry !== undefined) return undefined;
        entry = entries.get(value);
        if (entry === undefined) return undefined;
      } else if (name === "origin") {
        origin = value;
      }
    }
    const timeoutMs = entry && readPlainFields(head, entry.envelope);
    if (entry === undefined || timeoutMs === undefined) return undefined;
    const marks = this.#crossOrigin.marks(origin);
    const heads = marks.length === 0 ? entry.heads : entry.heads.marked(marks);
    return { ...entry, notes: newNotes(), heads, timeoutMs: timeoutMs > timeoutMsMax ? undefined : timeoutMs };
  }
}

/** `/` package.Service `/` Method. */
export function pathOf({ descriptor }: HotMethod): string {
  return `/${descriptor.parent.typeName}/${descriptor.name}`;
}

/** Returns the time until the deadline, infinite where there is none; undefined if the request is not plain. */
function readPlainFields(head: CallHead, envelope: Envelope): number | undefined {
  let timeoutMs: number | undefined;
  for (const { name, value } of head.fields) {
    if (name === envelope.timeoutField) {
      if (timeoutMs !== undefined) return undefined;
      timeoutMs = envelope.readTimeoutMs(value);
      if (timeoutMs === undefined) return undefined;
    } else if (Object.hasOwn(envelope.plainFields, name) && envelope.plainFields[name] !== value) {
      return undefined;
    }
  }
  return timeoutMs ?? Number.POSITIVE_INFINITY;
}
