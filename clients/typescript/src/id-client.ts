/// <reference lib="esnext.disposable" preserve="true" />
import type { CallOptions as RpcOptions, Client } from "@connectrpc/connect";
import { type GetInfoResponse, IdService } from "../../../src/gen/snowlane/v1/id_service_pb.ts";
import { ChunkCheck } from "./chunk-check.ts";
import type { ClientOptions, LookUp, OpenChannel } from "./client-options.ts";
import { deploymentNumber } from "./deployments.ts";
import { checkChunkSize, checkCount, checkStreamCount, closedError, invalidResponse } from "./errors.ts";
import { type IdSource, OfflineIds } from "./id-source.ts";
import { checkOptionKinds } from "./known-options.ts";
import { layoutOfResponse } from "./layout-response.ts";
import type { Layout } from "./offline.ts";
import { PrefetchBuffer, prefetchOptionKinds, type PrefetchOptions } from "./prefetch-buffer.ts";
import { type Admit, RpcCalls } from "./rpc-calls.ts";
import {
  type CallOptions,
  checkCallOptions,
  countOfAnswer,
  idRangeOfServers,
  type IdRun,
  type RunSource,
  type StreamOptions,
  streamOptionKinds,
} from "./run-source.ts";
import { RemoteSequence, type Sequence } from "./sequence.ts";
import type { ClientLogger } from "./states.ts";

/** Calls the ID service: one RPC a call, tried up to four times, over one or more endpoints. */
export class IdClient extends OfflineIds implements IdSource {
  readonly #calls: RpcCalls;
  readonly #givenLayout: Layout | undefined;
  readonly #logger: ClientLogger | undefined;
  readonly #buffers = new Set<PrefetchBuffer>();
  #layout: Promise<Layout> | undefined;
  /** The number of the deployment that the layout is of. */
  #layoutDeployment = 0;

  /**
   * Made by `createNodeClient` of `@snowlane/client/node` and `createWebClient` of `@snowlane/client/web`; by itself,
   * for another runtime.
   *
   * @param lookUp - Looks up host names: a name with several addresses counts as that many endpoints. Default: the
   *   runtime looks names up.
   * @throws RangeError, TypeError, if an option is wrong.
   */
  constructor(openChannel: OpenChannel, options: ClientOptions = {}, lookUp?: LookUp) {
    super(options.namespace ?? "default");
    this.#calls = new RpcCalls(openChannel, options, lookUp);
    this.#logger = options.logger;
    this.#givenLayout = options.layout;
  }

  /** Issues one ID, by one RPC. */
  async nextId(options?: CallOptions): Promise<bigint> {
    return this.#call("NextId", options, async (service, rpcOptions, admit) => {
      const { id, deployment } = await service.nextId({}, rpcOptions);
      await admit(deployment);
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
    checkCallOptions(options);
    checkCount(count);
    const { clock, timeoutMs } = this.#calls.settings;
    const deadlineMs = clock.monotonicMs() + (options?.timeoutMs ?? timeoutMs);
    const ids: bigint[] = [];
    while (ids.length < count) {
      const leftMs = deadlineMs - clock.monotonicMs();
      const runs = await this.reserve(count - ids.length, { signal: options?.signal, timeoutMs: leftMs });
      for (const { firstId, count, stride } of runs) {
        let id = firstId;
        for (let index = 0; index < count; index++, id += stride) ids.push(id);
      }
    }
    return ids;
  }

  /**
   * Issues `count` IDs as a stream of chunks: exactly that many, or an error. A stream that breaks is continued by
   * another, whose IDs may start lower, unless `ordered` is set. Leaving the loop cancels it.
   *
   * @param count - 1 to 10^9, inclusive.
   */
  async *stream(count: number, options: StreamOptions = {}): AsyncGenerator<readonly bigint[], void, undefined> {
    checkOptionKinds(options, streamOptionKinds);
    checkStreamCount(count);
    const { chunkSize = 0 } = options;
    checkChunkSize(chunkSize);
    yield* this.#calls.stream({
      service: IdService,
      method: "BatchNextIds",
      count,
      options,
      open: (service, leftCount, rpcOptions) =>
        service.batchNextIds({ count: BigInt(leftCount), chunkSize }, rpcOptions),
      read: (leftCount) => new ChunkCheck(leftCount),
      numbered: "deployment",
      numberOf: ({ deployment }) => deployment,
    });
  }

  /**
   * Reserves 1 to `count` IDs, as runs; a server grants what it has without waiting. They belong to the caller, used or
   * not.
   *
   * @param count - 1 to 1,048,576, inclusive.
   */
  async reserve(count: number, options?: CallOptions): Promise<readonly IdRun[]> {
    checkCount(count);
    return this.#call("ReserveIds", options, reservation(count));
  }

  /** Asks a server what it is: layout, worker ID, limits, version. */
  async info(options?: CallOptions): Promise<GetInfoResponse> {
    return this.#call("GetInfo", options, async (service, rpcOptions, admit) => {
      const info = await service.getInfo({}, rpcOptions);
      await admit(deploymentNumber(info.deploymentFingerprint));
      return info;
    });
  }

  /** Asks a server what it is. When that succeeds, a connection is open and the credentials are right. */
  async ready(options?: CallOptions): Promise<void> {
    await this.info(options);
  }

  async layout(options?: CallOptions): Promise<Layout> {
    if (this.#givenLayout !== undefined) return this.#givenLayout;
    if (this.#layoutDeployment !== this.#calls.deployment) this.#layout = undefined;
    this.#layout ??= this.#askLayout(options);
    try {
      return await this.#layout;
    } catch (error) {
      // Asked again by the next call.
      this.#layout = undefined;
      throw error;
    }
  }

  async #askLayout(options: CallOptions | undefined): Promise<Layout> {
    const { layout, deploymentFingerprint } = await this.info(options);
    this.#layoutDeployment = deploymentNumber(deploymentFingerprint) || this.#calls.deployment;
    return layoutOfResponse(layout);
  }

  /**
   * Makes a buffer that draws from this client, and is closed with it. The client keeps it until one of the two is
   * closed.
   */
  prefetch(options: PrefetchOptions = {}): PrefetchBuffer {
    checkOptionKinds(options, prefetchOptionKinds);
    if (this.#calls.isClosed) throw closedError("client");
    const { clock, random, observer, timeoutMs } = this.#calls.settings;
    const logger = this.#logger && { logger: this.#logger };
    const settings = { clock, random, observer, timeoutMs, ...logger, ...options };
    const buffer: PrefetchBuffer = new PrefetchBuffer(this.#hedged, settings, () => this.#buffers.delete(buffer));
    this.#buffers.add(buffer);
    return buffer;
  }

  /** The reservations of buffers. A lost reservation is only a gap, so a second request may be sent. */
  readonly #hedged: RunSource = {
    reserve: (count, options) =>
      this.#calls.hedgedCall({ service: IdService, method: "ReserveIds" }, options, reservation(count)),
  };

  /** The sequence of that name. Nothing is sent: whether it exists shows when its first value is taken. */
  sequence(name: string): Sequence {
    return new RemoteSequence(name, this.#calls);
  }

  /** Ends all calls with CLIENT_CLOSED, closes the buffers and the connections. Closing again does nothing. */
  close(): void {
    if (this.#calls.isClosed) return;
    this.#calls.close();
    for (const buffer of this.#buffers) buffer.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #call<T>(
    method: string,
    options: CallOptions | undefined,
    work: (service: Client<typeof IdService>, rpcOptions: RpcOptions, admit: Admit) => Promise<T>,
  ): Promise<T> {
    checkCallOptions(options);
    return this.#calls.call({ service: IdService, method }, options, work);
  }
}

/** Makes one ReserveIds call, and checks its answer. */
function reservation(count: number) {
  return async (service: Client<typeof IdService>, rpcOptions: RpcOptions, admit: Admit): Promise<readonly IdRun[]> => {
    const { runs, deployment } = await service.reserveIds({ count }, rpcOptions);
    await admit(deployment);
    countOfAnswer(runs, count);
    return runs.map(({ firstId, count, stride }) => ({ firstId, count, stride }));
  };
}
