/**
 * The contract of a hot method: a call from bytes to bytes. The service does the method's work (issue-ids.ts); this
 * folder only reads the request and writes the response, without an object for each message. A call that is not plain
 * takes the general way of all methods: for example one with texts beside the IDs, with unknown fields, or with numbers
 * beyond the sensible range.
 */
import type { DescMethod } from "@bufbuild/protobuf";
import type { CallContext } from "./issue-ids.ts";

/**
 * The messages of a stream, one after another: framed as in {@link HotMethod}, valid until the next is asked for;
 * undefined at the end.
 */
export interface HotStream {
  next(): Uint8Array | Promise<Uint8Array | undefined> | undefined;
  /** Called once when the call is over, however it ends. Absent: there is nothing to release. */
  close?(): void;
}

/**
 * A framed message that is only lent: its bytes are overwritten by the next call of any method. It is not a Uint8Array,
 * so that it cannot be given to a queue that keeps bytes without copying them.
 */
export class LentMessage {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/**
 * The answer of a hot method: a framed message that is lent, one that the caller may keep, a promise of one to keep, or
 * a stream. A framed message has gRPC's prefix: a byte 0 for "not compressed", and its length in four bytes.
 */
export type HotAnswer = LentMessage | Uint8Array | Promise<Uint8Array> | HotStream;

/** A call whose request was read. @throws The errors of the service, also as rejection. */
export type HotOperation = (context: HotContext) => HotAnswer;

/** The context of a call for a hot method: the caller's fields, and the fields to send beside the messages. */
export interface HotContext extends CallContext {
  /** Fields of the request's head, names in lower case. */
  readonly requestFields: readonly { readonly name: string; readonly value: string }[];
  /** Sent with the response's head; to be set before the first message. */
  responseFields: readonly (readonly [name: string, value: string])[];
  /** Sent with the response's trailers, or with the error that ends it. */
  responseTrailers: readonly (readonly [name: string, value: string])[];
}

/** A method that is called with bytes. docs/adr/0044 explains why it has two steps. */
export interface HotMethod {
  readonly descriptor: DescMethod;
  /** Whether it is also hot in JSON: its messages are of the kinds that json-request.ts and json-response.ts know. */
  readonly hasPlainJson: boolean;
  /**
   * `hot`: a call allocates nothing for its messages. `direct`: it makes an object for each message, and takes long
   * enough that it waits for its own turn if its connection may send many at once.
   */
  readonly kind: "hot" | "direct";
  /**
   * Reads a request, and does nothing else, because the guards are asked between reading and doing. Undefined if the
   * request is not plain, so that the call has to take the general way.
   *
   * @param message - The request, without prefix. Only lent.
   */
  readonly read: (message: Buffer) => HotOperation | undefined;
}

/** One byte for "not compressed", four for the length: gRPC over HTTP/2, "Length-Prefixed-Message". */
export const prefixBytes = 5;
