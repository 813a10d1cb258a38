import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { constants, Http2ServerResponse } from "node:http2";
import { ErrorInfoSchema, RetryInfoSchema } from "../../../src/gen/google/rpc/error_details_pb.ts";
import { IdService } from "../../../src/gen/snowlane/v1/id_service_pb.ts";
import { CleartextServer } from "./cleartext-server.ts";

/** The parts of an answer with a reason. */
export interface ScriptedFault {
  readonly reason?: string;
  readonly code: Code;
  readonly retryAfterMs?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Makes the error that a server of ours sends for a reason. */
export function faultError({ reason, code, retryAfterMs, metadata = {} }: ScriptedFault): ConnectError {
  const details: NonNullable<ConstructorParameters<typeof ConnectError>[3]> = [];
  if (reason !== undefined) {
    details.push({
      desc: ErrorInfoSchema,
      value: create(ErrorInfoSchema, { reason, domain: "snowlane.dev", metadata }),
    });
  }
  if (retryAfterMs !== undefined) {
    const retryDelay = { seconds: BigInt(Math.floor(retryAfterMs / 1_000)), nanos: (retryAfterMs % 1_000) * 1e6 };
    details.push({ desc: RetryInfoSchema, value: create(RetryInfoSchema, { retryDelay }) });
  }
  return new ConnectError(`scripted ${reason ?? Code[code]}`, code, undefined, details);
}

/**
 * An ID service that does what a test tells it to, over cleartext HTTP/2 and HTTP/1.1: for faults that a real server
 * cannot be made to show at will. It counts up from `firstId`, unless `handlers` says otherwise.
 */
export class ScriptedIdServer {
  /** Laid over the handlers that count. */
  handlers: Partial<ServiceImpl<typeof IdService>> = {};
  /** The calls, in order. */
  readonly calls: { readonly method: string; readonly context: HandlerContext }[] = [];
  /** This many of the next requests are dropped without an answer: by RST_STREAM with CANCEL over HTTP/2. */
  dropCount = 0;
  #nextId: bigint;
  readonly #server: CleartextServer;

  constructor(firstId = 1n, streamsMax?: number) {
    this.#nextId = firstId;
    const answer = connectNodeAdapter({ routes: (router) => this.#routes(router) });
    this.#server = new CleartextServer((request, response) => {
      if (this.dropCount === 0) return answer(request, response);
      this.dropCount--;
      if (response instanceof Http2ServerResponse) response.stream.close(constants.NGHTTP2_CANCEL);
      else response.destroy();
    }, streamsMax);
  }

  get url(): string {
    return this.#server.url;
  }

  /** Connections that were taken so far. */
  get acceptedCount(): number {
    return this.#server.acceptedCount;
  }

  /** Listens: on a free port the first time, on the same one after a {@link kill}. */
  async start(): Promise<this> {
    await this.#server.start();
    return this;
  }

  /** Cuts every connection and stops listening, as a crash does. */
  kill(): Promise<void> {
    return this.#server.kill();
  }

  /** Sends GOAWAY to every connection of HTTP/2. */
  goAway(): void {
    this.#server.goAway();
  }

  #routes(router: ConnectRouter): void {
    router.service(IdService, {
      nextId: (request, context) => this.#run("nextId", request, context, () => ({ id: this.#nextId++ })),
      reserveIds: (request, context) =>
        this.#run("reserveIds", request, context, () => {
          const run = { firstId: this.#nextId, count: request.count, stride: 1n };
          this.#nextId += BigInt(request.count);
          return { runs: [run] };
        }),
      batchNextIds: (request, context) =>
        this.#run("batchNextIds", request, context, () => this.#stream(Number(request.count), request.chunkSize)),
      getInfo: (request, context) => this.#run("getInfo", request, context, () => ({})),
    });
  }

  /** Runs what a test has put in place of a method, else `count`. */
  #run<T>(method: keyof ServiceImpl<typeof IdService>, request: unknown, context: HandlerContext, count: () => T): T {
    this.calls.push({ method, context });
    const handler = this.handlers[method] as ((request: unknown, context: HandlerContext) => T) | undefined;
    return handler === undefined ? count() : handler(request, context);
  }

  async *#stream(count: number, chunkSize: number) {
    for (let left = count; left > 0; ) {
      const size = Math.min(left, chunkSize || 4_096);
      const first = this.#nextId;
      this.#nextId += BigInt(size);
      left -= size;
      yield { ids: Array.from({ length: size }, (_, index) => first + BigInt(index)) };
    }
  }
}
