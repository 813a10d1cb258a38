/** The protocol around the messages of a hot call, its envelope. docs/adr/0120 has the decision. */
import type { ConnectError } from "@connectrpc/connect";

/** Header fields in the order in which they are sent; names in lower case. */
export type Fields = readonly (readonly [name: string, value: string])[];

/**
 * The end of a call's response. `trailers`: a trailer section, or the fields of a head that is sent alone. `frame`: the
 * last bytes of the body. `response`: a whole response of its own.
 */
export type Ending =
  | { readonly kind: "trailers"; readonly fields: Fields }
  | { readonly kind: "frame"; readonly bytes: Uint8Array }
  | {
      readonly kind: "response";
      readonly status: number;
      readonly contentType: string;
      readonly fields: Fields;
      readonly body: Uint8Array;
    };

/**
 * How a protocol carries a call: which fields of the request's head matter, which bytes surround a message, and how a
 * response ends. There is one for each protocol; it keeps no state of a call, and knows no socket.
 */
export interface Envelope {
  readonly protocol: "gRPC" | "gRPC-Web" | "Connect" | "Connect streaming";
  /** The methods that it carries: unary ones, those with a stream of responses, or both. */
  readonly methods: "unary" | "server_streaming" | "both";
  /** Content types of plain requests, in lower case, with the codec and the content type of the response. */
  readonly contentTypes: Readonly<Record<string, { readonly codec: "binary" | "json"; readonly response: string }>>;
  /** Whether a message has five bytes before it: a byte 0, and the length in four. Otherwise it is the whole body. */
  readonly isPrefixed: boolean;
  /** Whether responses have a date, as all other responses have. Servers of gRPC send none. */
  readonly hasDate: boolean;
  /** The field with the time until the deadline. */
  readonly timeoutField: string;
  /** Reads that field in milliseconds; undefined if it is malformed. */
  readonly readTimeoutMs: (value: string) => number | undefined;
  /** Fields that a plain request has with this value or lacks. Undefined: it lacks the field. */
  readonly plainFields: Readonly<Record<string, string | undefined>>;
  /** The end of a call that went well. Undefined: the last message was the end. */
  readonly succeed: (trailers: Fields) => Ending | undefined;
  /** The end of a call with an error. */
  readonly fail: (error: ConnectError, trailers: Fields) => Ending;
}
