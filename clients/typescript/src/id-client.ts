/// <reference lib="esnext.disposable" preserve="true" />
import { type CallOptions as RpcOptions, type Client, createClient } from "@connectrpc/connect";
import { type GetInfoResponse, IdService } from "../../../src/gen/snowlane/v1/id_service_pb.ts";
import { type Attempt, Attempts, type AttemptSettings } from "./attempts.ts";
import { ChunkCheck } from "./chunk-check.ts";
import { bearerOf, type Channel, checkOptions, type ClientOptions, type OpenChannel } from "./client-options.ts";
import { type Clock, systemClock } from "./clock.ts";
import { Endpoints } from "./endpoints.ts";
import {
  abortError,
  checkChunkSize,
  checkCount,
  checkStreamCount,
  closedError,
  invalidResponse,
  SnowlaneError,
} from "./errors.ts";
import { type IdSource, OfflineIds, type StreamOptions } from "./id-source.ts";
import { layoutOfResponse } from "./layout-response.ts";
import { LinkedAbort } from "./linked-abort.ts";
import type { Layout } from "./offline.ts";
import { PrefetchBuffer, type PrefetchOptions } from "./prefetch-buffer.ts";
import { type CallOptions, countOfAnswer, idRangeOfServers, type IdRun } from "./run-source.ts";

/**
 * The longest that gRPC can say, in milliseconds: 8 digits
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). An attempt that takes longer is made again.
 */
const rpcTimeoutMsMax = 99_999_999;

/** Calls the ID service: one RPC a call, tried up to four times, over one or more endpoints. */
export class IdClient extends OfflineIds implements IdSource {
  readonly #openChannel: OpenChannel;
  readonly #settings: AttemptSettings;
  readonly #options: ClientOptions;
  readonly #clock: Clock;
  readonly #services = new Map<string, { readonly channel: Channel; readonly service: Client<typeof IdService> }>();
  readonly #closing = new AbortController();
  readonly #buffers = new Set<PrefetchBuffer>();
  #layout: Promise<Layout> | undefined;

  /**
   * Made by `createNodeClient` of `@snowlane/client/node` and `createWebClient` of `@snowlane/client/web`; by itself,
   * for another runtime.
   *
   * @throws RangeError, TypeError, if an option is wrong.
   */
  constructor(openChannel: OpenChannel, options: ClientOptions = {}) {
    super(options.namespace ?? "default");
    const { clock = systemClock, random = Math.random } = options;
    const urls = checkOptions(options);
    this.#openChannel = openChannel;
    this.#options = options;
    this.#clock = clock;
    this.#settings = {
      endpoints: new Endpoints(urls, clock, random),
      clock,
      random,
      observer: options.observer ?? {},
      timeoutMs: options.timeoutMs ?? 5_000,
      attemptTimeoutMs: options.attemptTimeoutMs ?? 2_000,
      retryMax: options.retryMax ?? 3,
    };
  }

  /** Issues one ID, by one RPC. */
  async nextId(options?: CallOptions): Promise<bigint> {
    return this.#call("NextId", options, async (service, rpcOptions) => {
      const { id } = await service.nextId({}, rpcOptions);
      if (id >= idRangeOfServers.min && id <= idRangeOfServers.max) return id;
      throw invalidResponse("The server sent an ID that is 0 or has bit 63 set.", { id: String(id) });
    });
  }

  /**
   * Issues `count` IDs, by as many reservations as it takes. They ascend as long as one server answers.
   *
   * @param count - 1 to 1,048,576, inclusive.
   */
  async nextIds(count: number, options?: CallOptions): Promise<bigint[]> {
    checkCount(count);
    const deadlineMs = this.#clock.monotonicMs() + (options?.timeoutMs ?? this.#settings.timeoutMs);
    const ids: bigint[] = [];
    while (ids.length < count) {
      const timeoutMs = deadlineMs - this.#clock.monotonicMs();
      const runs = await this.reserve(count - ids.length, { signal: options?.signal, timeoutMs });
      for (const { firstId, count, stride } of runs) {
        let id = firstId;
        for (let index = 0; index < count; index++, id += stride) ids.push(id);
      }
    }
    return ids;
  }

  /**
   * Issues `count` IDs as a stream of chunks: exactly so many, or an error. A stream that breaks is taken up by
   * another, whose IDs may start lower, unless `ordered` is set. Leaving the loop cancels it.
   *
   * @param count - 1 to 10^9, inclusive.
   */
  async *stream(count: number, options: StreamOptions = {}): AsyncGenerator<readonly bigint[], void, undefined> {
    checkStreamCount(count);
    const { timeoutMs, chunkSize = 0, ordered = false } = options;
    checkChunkSize(chunkSize);
    const call = new LinkedAbort([options.signal, this.#closing.signal]);
    const attempts = new Attempts(this.#settings, "BatchNextIds", { signal: call.signal, timeoutMs });
    let leftCount = count;
    try {
      while (leftCount > 0) {
        const attempt = await attempts.begin();
        const check = new ChunkCheck(leftCount);
        try {
          for await (const ids of this.#openStream(attempt, attempts, call.signal, { ...options, count: leftCount })) {
            check.take(ids);
            leftCount -= ids.length;
            attempts.progress(attempt);
            yield ids;
            if (timeoutMs === undefined) attempts.awaitNext();
          }
          check.end();
          attempts.succeed(attempt);
        } catch (cause) {
          const error = attempts.fail(attempt, cause);
          if (ordered && leftCount < count) throw error;
        }
      }
    } finally {
      call.unlink();
    }
  }

  /**
   * Reserves 1 to `count` IDs, as runs; a server grants what it has without waiting. They belong to the caller, used or
   * not.
   *
   * @param count - 1 to 1,048,576, inclusive.
   */
  async reserve(count: number, options?: CallOptions): Promise<readonly IdRun[]> {
    checkCount(count);
    return this.#call("ReserveIds", options, async (service, rpcOptions) => {
      const { runs } = await service.reserveIds({ count }, rpcOptions);
      countOfAnswer(runs, count);
      return runs.map(({ firstId, count, stride }) => ({ firstId, count, stride }));
    });
  }

  /** Asks a server what it is: layout, worker ID, limits, version. */
  async info(options?: CallOptions): Promise<GetInfoResponse> {
    return this.#call("GetInfo", options, (service, rpcOptions) => service.getInfo({}, rpcOptions));
  }

  async layout(options?: CallOptions): Promise<Layout> {
    if (this.#options.layout !== undefined) return this.#options.layout;
    this.#layout ??= this.info(options).then(({ layout }) => layoutOfResponse(layout));
    try {
      return await this.#layout;
    } catch (error) {
      // Asked again by the next call.
      this.#layout = undefined;
      throw error;
    }
  }

  /**
   * Makes a buffer that draws from this client, and is closed with it. The client keeps it until one of the two is
   * closed.
   */
  prefetch(options: PrefetchOptions = {}): PrefetchBuffer {
    if (this.#closing.signal.aborted) throw closedError("client");
    const { clock, random, observer, timeoutMs } = this.#settings;
    const settings = { clock, random, observer, timeoutMs, ...options };
    const buffer: PrefetchBuffer = new PrefetchBuffer(this, settings, () => this.#buffers.delete(buffer));
    this.#buffers.add(buffer);
    return buffer;
  }

  /** Ends all calls with CLIENT_CLOSED, closes the buffers and the connections. Closing again does nothing. */
  close(): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(closedError("client"));
    for (const buffer of this.#buffers) buffer.close();
    for (const { channel } of this.#services.values()) channel.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #call<T>(
    method: string,
    options: CallOptions | undefined,
    work: (service: Client<typeof IdService>, rpcOptions: RpcOptions) => Promise<T>,
  ): Promise<T> {
    const call = options?.signal && new LinkedAbort([options.signal, this.#closing.signal]);
    const { signal } = call ?? this.#closing;
    const attempts = new Attempts(this.#settings, method, { signal, timeoutMs: options?.timeoutMs });
    try {
      for (;;) {
        const attempt = await attempts.begin();
        try {
          const rpcOptions = { signal, timeoutMs: rpcTimeoutMs(attempt.timeoutMs), ...(await this.#headers()) };
          const value = await work(this.#service(attempt.endpoint.url), rpcOptions);
          attempts.succeed(attempt);
          return value;
        } catch (error) {
          attempts.fail(attempt, error);
        }
      }
    } finally {
      call?.unlink();
    }
  }

  /** Opens one stream and gives its chunks; the wait for each is bounded. */
  async *#openStream(
    attempt: Attempt,
    attempts: Attempts,
    signal: AbortSignal,
    { count, chunkSize = 0, timeoutMs }: StreamOptions & { readonly count: number },
  ): AsyncGenerator<readonly bigint[], void, undefined> {
    const abort = new LinkedAbort([signal]);
    try {
      const headers = await this.#headers();
      const deadline = timeoutMs === undefined ? {} : { timeoutMs: rpcTimeoutMs(attempts.leftMs) };
      const service = this.#service(attempt.endpoint.url);
      const request = { count: BigInt(count), chunkSize };
      const responses = service.batchNextIds(request, { signal: abort.signal, ...headers, ...deadline });
      const chunks = responses[Symbol.asyncIterator]();
      for (;;) {
        const waitMs = attempts.attemptLeftMs;
        const callOff = this.#clock.schedule(waitMs, () => abort.abort(lateError(waitMs)), "keeps process");
        const result = await chunks.next().finally(callOff);
        if (result.done) return;
        yield result.value.ids;
      }
    } catch (error) {
      throw abort.signal.aborted ? abortError(abort.signal) : error;
    } finally {
      abort.unlink();
      abort.abort(undefined);
    }
  }

  #service(url: string): Client<typeof IdService> {
    let entry = this.#services.get(url);
    if (entry === undefined) {
      const channel = this.#openChannel(url);
      entry = { channel, service: createClient(IdService, channel.transport) };
      this.#services.set(url, entry);
    }
    return entry.service;
  }

  async #headers(): Promise<{ readonly headers?: Record<string, string> }> {
    const { token } = this.#options;
    if (token === undefined) return {};
    return { headers: { authorization: await bearerOf(token) } };
  }
}

function rpcTimeoutMs(timeoutMs: number): number {
  return Math.min(Math.ceil(timeoutMs), rpcTimeoutMsMax);
}

function lateError(waitMs: number): SnowlaneError {
  const message = `No chunk came within ${Math.round(waitMs)} ms.`;
  return new SnowlaneError("DEADLINE_EXCEEDED", message, { code: "DEADLINE_EXCEEDED" });
}
