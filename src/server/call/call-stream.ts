import type { CallHead } from "./hot-route.ts";

/**
 * One request with its response, as a call on bytes sees it: a stream of the HTTP/2 engine, or a request of HTTP/1.1.
 * The members are those of the engine's ServerStream. `Block` is a head or a trailer section, encoded for the
 * connection.
 */
export interface CallStream<Block> {
  readonly head: CallHead & {
    /** The value of a field by its name in lower case. */
    get(name: string): string | undefined;
    /** A place where the server caches what it has derived from this head. */
    note: unknown;
  };
  handler: CallHandler<CallStream<Block>>;
  readonly isClosed: boolean;
  readonly hasEnded: boolean;
  readonly hasResponded: boolean;
  readonly openedMs: number;
  respond(block: Block, then: "body" | "end"): void;
  write(bytes: Uint8Array): boolean;
  writeLent(bytes: Uint8Array): boolean;
  end(trailers?: Block): void;
  reset(code: number): void;
}

/** Handles one request. The methods are those of the engine's StreamHandler. */
export interface CallHandler<Stream> {
  onData?(stream: Stream, bytes: Buffer, start: number, end: number): void;
  onEnd?(stream: Stream, trailers: readonly { readonly name: string; readonly value: string }[]): void;
  onWritable?(stream: Stream): void;
  onStall?(stream: Stream): void;
  onAbort?(stream: Stream, code: number): void;
}
