import type { DescService } from "@bufbuild/protobuf";
import {
  type CallOptions as RpcOptions,
  type Client,
  createClient,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { IdService } from "../../../src/gen/snowlane/v1/id_service_pb.ts";
import { type Attempt, Attempts, type AttemptSettings } from "./attempts.ts";
import {
  bearerOf,
  type Channel,
  checkOptions,
  type ClientOptions,
  deploymentsOf,
  type LookUp,
  type OpenChannel,
  type SecondChannel,
} from "./client-options.ts";
import { systemClock } from "./clock.ts";
import { isOfDarkConnection } from "./dark-connection.ts";
import { deploymentNumber, Deployments, type MetServer } from "./deployments.ts";
import { type Endpoint, Endpoints } from "./endpoints.ts";
import { abortError, closedError, SnowlaneError } from "./errors.ts";
import { firstOfTwo, Hedges } from "./hedges.ts";
import { intercepted } from "./intercepted-transport.ts";
import { LinkedAbort } from "./linked-abort.ts";
import { hasHostName, HostName } from "./names.ts";
import { errorOfRpc } from "./rpc-error.ts";
import type { CallOptions, StreamOptions } from "./run-source.ts";
import { States } from "./states.ts";

/**
 * The longest that gRPC can say, in milliseconds: 8 digits
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). An attempt that takes longer is made again.
 */
const rpcTimeoutMsMax = 99_999_999;
/**
 * The shortest time between two openings of a connection to an endpoint that is not in use. Such a connection lets a
 * hedge be sent at once.
 */
const warmPauseMs = 10_000;
/** The longest time that the first ID waits for all endpoints to say which deployment they belong to. */
const meetTimeoutMs = 500;

/** Reads and checks the responses of one server's stream. */
export interface ChunkReader<Response, Item> {
  /** @throws SnowlaneError INVALID_RESPONSE. */
  take(response: Response): readonly Item[];
  /** @throws SnowlaneError INVALID_RESPONSE, if the stream has ended too early. */
  end(): void;
}

/** A stream of a given number of items, which another server may continue. */
export interface StreamCall<Service extends DescService, Response, Item> {
  readonly service: Service;
  readonly method: string;
  /** How many items in all. */
  readonly count: number;
  readonly options: StreamOptions;
  readonly open: (client: Client<Service>, leftCount: number, rpcOptions: RpcOptions) => AsyncIterable<Response>;
  readonly read: (leftCount: number) => ChunkReader<Response, Item>;
  /** The number that a response carries, and what kind of number it is. */
  readonly numberOf: (response: Response) => number;
  readonly numbered: Numbered;
}

/**
 * The kind of an answer's number: that of the deployment of its IDs, or that of the database of sequences of its
 * values.
 */
type Numbered = "deployment" | "database";

/** Checks the number of an answer, before any ID or value of it is read. */
export type Admit = (number: number, numbered?: Numbered) => Promise<void>;

/** Makes one RPC of a call, and reads its answer. */
type Work<Service extends DescService, T> = (
  client: Client<Service>,
  rpcOptions: RpcOptions,
  admit: Admit,
) => Promise<T>;

interface OpenEndpoint {
  readonly channel: Channel;
  /** The channel's transport, with the interceptors. */
  readonly transport: Transport;
  readonly clients: Map<DescService, Client<DescService>>;
}

/** The calls of one client: its channels, its token, and the attempts of each call. */
export class RpcCalls {
  readonly settings: AttemptSettings;
  readonly #openChannel: OpenChannel;
  readonly #token: ClientOptions["token"];
  readonly #interceptors: readonly Interceptor[];
  readonly #open = new Map<Endpoint, OpenEndpoint>();
  readonly #names: readonly HostName[];
  readonly #deployments: Deployments;
  readonly #databases = new Deployments(undefined, "database");
  /** The request to all endpoints for their deployments, in parallel with the first call. */
  #meeting: Promise<void> | undefined;
  readonly #hedges: Hedges;
  /** When the connection to an endpoint was last opened for later hedges. */
  readonly #warmedAtMs = new Map<Endpoint, number>();
  readonly #closing = new AbortController();

  /**
   * @param lookUp - Undefined: the runtime looks names up.
   * @throws RangeError, TypeError, if an option is wrong.
   */
  constructor(openChannel: OpenChannel, options: ClientOptions, lookUp: LookUp | undefined) {
    const { clock = systemClock, random = Math.random } = options;
    this.#openChannel = openChannel;
    this.#token = options.token;
    this.#interceptors = options.interceptors ?? [];
    const endpoints = new Endpoints([...new Set(checkOptions(options))], clock, random);
    this.#deployments = new Deployments(deploymentsOf(options));
    this.settings = {
      endpoints,
      clock,
      random,
      observer: options.observer ?? {},
      states: new States(clock, options.observer ?? {}, options.logger),
      timeoutMs: options.timeoutMs ?? 5_000,
      attemptTimeoutMs: options.attemptTimeoutMs ?? 2_000,
      retryMax: options.retryMax ?? 3,
    };
    this.#hedges = new Hedges(clock, this.settings.attemptTimeoutMs);
    const named = lookUp === undefined ? [] : endpoints.all.filter(hasHostName);
    const onGone = (endpoint: Endpoint): void => this.#leave(endpoint);
    this.#names = named.map(
      (endpoint) => new HostName(endpoint, { lookUp: lookUp as LookUp, endpoints, clock, random, onGone }),
    );
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** The number of the deployment that the last answer came from; 0 while it is not known. */
  get deployment(): number {
    return this.#deployments.current;
  }

  /** Makes a call of one answer, with its attempts. */
  async call<Service extends DescService, T>(
    { service, method }: { readonly service: Service; readonly method: string },
    options: CallOptions | undefined,
    work: Work<Service, T>,
  ): Promise<T> {
    return this.#attempts({ method, options }, async (attempt, { signal }) => {
      const { endpoint } = attempt;
      const rpcOptions = { signal, timeoutMs: rpcTimeoutMs(attempt.timeoutMs), ...(await this.#headers()) };
      const value = await work(this.#client(service, endpoint), rpcOptions, (...given) =>
        this.#admit(endpoint, ...given),
      );
      return { value, request: attempt };
    });
  }

  /** Makes a call as {@link call} does, whose attempts send a second request where the first has no answer soon. */
  async hedgedCall<Service extends DescService, T>(
    { service, method }: { readonly service: Service; readonly method: string },
    options: CallOptions | undefined,
    work: Work<Service, T>,
  ): Promise<T> {
    const { clock, endpoints } = this.settings;
    return this.#attempts({ method, options }, async (attempt, { signal, attempts }) => {
      const headers = await this.#headers();
      const plan = this.#planHedge(attempt.endpoint);
      const legOf = (request: Attempt, second?: SecondChannel) => async (legSignal: AbortSignal) => {
        const { endpoint } = request;
        const startedMs = clock.monotonicMs();
        const client = second
          ? createClient(service, this.#intercepted(endpoint, second.transport))
          : this.#client(service, endpoint);
        const rpcOptions = { signal: legSignal, timeoutMs: rpcTimeoutMs(attempts.attemptLeftMs), ...headers };
        let outcome: "won" | "lost" = "lost";
        try {
          const value = await work(client, rpcOptions, (...given) => this.#admit(endpoint, ...given));
          if (!legSignal.aborted) outcome = "won";
          return { value, request, durationMs: clock.monotonicMs() - startedMs };
        } catch (error) {
          if (errorOfRpc(error, { endpoint: endpoint.url }).reason === "QUOTA_EXCEEDED") this.#hedges.noteQuota();
          throw error;
        } finally {
          second?.settle(outcome);
        }
      };
      let hedge = attempt;
      const won = await firstOfTwo({
        clock,
        signal,
        first: legOf(attempt),
        delayMs: plan.delayMs,
        second: () => {
          if (this.#hedges.arePaused) return undefined;
          const second = plan.endpoint ?? this.#channelOf(attempt.endpoint).second?.();
          if (second === undefined) return undefined;
          hedge = { ...attempt, endpoint: plan.endpoint ?? attempt.endpoint, isHedge: true };
          return legOf(hedge, "transport" in second ? second : undefined);
        },
        onOther: (isFirst, cause) => attempts.reportOther(isFirst ? attempt : hedge, cause),
      });
      this.#hedges.noteAnswer(won.durationMs);
      endpoints.noteRefill(won.request.endpoint);
      return won;
    });
  }

  /** Where the second request of an attempt goes, and when. Without an endpoint: over a new connection to the first. */
  #planHedge(first: Endpoint): { readonly endpoint?: Endpoint; readonly delayMs: number } {
    const { endpoints, random } = this.settings;
    const others = endpoints.othersUp(first);
    const open = others.filter((other) => this.#channelOf(other).isOpen ?? true);
    const among = open.length > 0 ? open : others;
    const endpoint = among[Math.floor(random() * among.length)];
    for (const other of others) if (!open.includes(other)) this.#warm(other);
    if (endpoint === undefined) return { delayMs: this.#hedges.delayMs(true) };
    return { endpoint, delayMs: this.#hedges.delayMs(open.length === 0) };
  }

  /** Opens the connection to an endpoint, so that a hedge can be sent at once; does so seldom. */
  #warm(endpoint: Endpoint): void {
    const nowMs = this.settings.clock.monotonicMs();
    if (nowMs - (this.#warmedAtMs.get(endpoint) ?? -Infinity) < warmPauseMs) return;
    this.#warmedAtMs.set(endpoint, nowMs);
    void this.#ask(endpoint);
  }

  /** Makes the attempts of a call. */
  async #attempts<T>(
    { method, options }: { readonly method: string; readonly options: CallOptions | undefined },
    attemptOnce: (
      attempt: Attempt,
      call: { readonly signal: AbortSignal; readonly attempts: Attempts },
    ) => Promise<{ readonly value: T; readonly request: Attempt }>,
  ): Promise<T> {
    const call = options?.signal && new LinkedAbort([options.signal, this.#closing.signal]);
    const { signal } = call ?? this.#closing;
    const attempts = new Attempts(this.settings, method, { signal, timeoutMs: options?.timeoutMs });
    try {
      for (;;) {
        await this.#prepare();
        const attempt = await attempts.begin();
        try {
          const { value, request } = await attemptOnce(attempt, { signal, attempts });
          attempts.succeed(request);
          return value;
        } catch (error) {
          attempts.fail(attempt, error);
        }
      }
    } finally {
      call?.unlink();
    }
  }

  /** Makes a stream, with its attempts. Leaving the loop cancels it. */
  async *stream<Service extends DescService, Response, Item>(
    spec: StreamCall<Service, Response, Item>,
  ): AsyncGenerator<readonly Item[], void, undefined> {
    const { count, method, options } = spec;
    const { timeoutMs, ordered = false } = options;
    const call = new LinkedAbort([options.signal, this.#closing.signal]);
    const attempts = new Attempts(this.settings, method, { signal: call.signal, timeoutMs });
    let leftCount = count;
    try {
      while (leftCount > 0) {
        await this.#prepare();
        const attempt = await attempts.begin();
        const reader = spec.read(leftCount);
        try {
          for await (const response of this.#openStream(spec, leftCount, { attempt, attempts, signal: call.signal })) {
            await this.#admit(attempt.endpoint, spec.numberOf(response), spec.numbered);
            const items = reader.take(response);
            leftCount -= items.length;
            attempts.progress(attempt);
            yield items;
            if (timeoutMs === undefined) attempts.awaitNext();
          }
          reader.end();
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

  /** Ends all calls with CLIENT_CLOSED, and closes the connections. */
  close(): void {
    this.#closing.abort(closedError("client"));
    for (const { channel } of this.#open.values()) channel.close();
  }

  /** Opens one stream and yields its responses; the wait for each is bounded. */
  async *#openStream<Service extends DescService, Response, Item>(
    { service, options: { timeoutMs }, open }: StreamCall<Service, Response, Item>,
    leftCount: number,
    { attempt, attempts, signal }: { readonly attempt: Attempt; readonly attempts: Attempts; signal: AbortSignal },
  ): AsyncGenerator<Response, void, undefined> {
    const abort = new LinkedAbort([signal]);
    try {
      const headers = await this.#headers();
      const deadline = timeoutMs === undefined ? {} : { timeoutMs: rpcTimeoutMs(attempts.leftMs) };
      const client = this.#client(service, attempt.endpoint);
      const responses = open(client, leftCount, { signal: abort.signal, ...headers, ...deadline });
      const chunks = responses[Symbol.asyncIterator]();
      for (;;) {
        const waitMs = attempts.attemptLeftMs;
        const callOff = this.settings.clock.schedule(waitMs, () => abort.abort(lateError(waitMs)), "keeps process");
        const result = await chunks.next().finally(callOff);
        if (result.done) return;
        yield result.value;
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      const ended = abortError(abort.signal);
      if (!isOfDarkConnection(error)) throw ended;
      const { reason, message, code } = ended;
      throw new SnowlaneError(reason, message, { code, cause: error });
    } finally {
      abort.unlink();
      abort.abort(undefined);
    }
  }

  /**
   * Makes sure that names are looked up, and begins to ask all endpoints which deployment they belong to.
   *
   * @throws SnowlaneError, if they belong to two.
   */
  async #prepare(): Promise<void> {
    const looks = this.#names.flatMap((name) => name.look() ?? []);
    if (looks.length > 0) await Promise.all(looks);
    this.#meeting ??= this.settings.endpoints.all.length > 1 ? this.#meetAll() : Promise.resolve();
    this.#deployments.checkConflict();
  }

  async #meetAll(): Promise<void> {
    const servers = await Promise.all(this.settings.endpoints.all.map((endpoint) => this.#ask(endpoint)));
    for (const server of servers) {
      if (server !== undefined && !this.#deployments.meetAtStart(server)) this.#tellMismatch(server.url);
    }
  }

  #tellMismatch(endpoint: string): void {
    this.settings.states.tell({ state: "mismatch", reason: "DEPLOYMENT_MISMATCH", endpoint });
  }

  /** Asks a server which deployment it belongs to; undefined if it does not answer soon. */
  async #ask(endpoint: Endpoint): Promise<MetServer | undefined> {
    try {
      const rpcOptions = { signal: this.#closing.signal, timeoutMs: meetTimeoutMs, ...(await this.#headers()) };
      const info = await this.#client(IdService, endpoint).getInfo({}, rpcOptions);
      const number = deploymentNumber(info.deploymentFingerprint);
      return number === 0 ? undefined : { url: endpoint.url, number, info };
    } catch {
      return undefined;
    }
  }

  async #admit(endpoint: Endpoint, number: number, numbered: Numbered = "deployment"): Promise<void> {
    await this.#meeting;
    this.#deployments.checkConflict();
    if (number === 0) return;
    const known = numbered === "deployment" ? this.#deployments : this.#databases;
    // With only one endpoint, there is nothing to compare its answer with; and about a database it would say no more.
    const isAsked = numbered === "deployment" && !known.knows(number) && this.settings.endpoints.all.length > 1;
    const server = isAsked ? await this.#ask(endpoint) : undefined;
    try {
      known.admit(server?.number === number ? server : { url: endpoint.url, number, info: undefined });
    } catch (error) {
      this.#tellMismatch(endpoint.url);
      throw error;
    }
  }

  #client<Service extends DescService>(service: Service, endpoint: Endpoint): Client<Service> {
    const { clients, transport } = this.#opened(endpoint);
    let client = clients.get(service) as Client<Service> | undefined;
    if (client === undefined) {
      client = createClient(service, transport);
      clients.set(service, client);
    }
    return client;
  }

  #channelOf(endpoint: Endpoint): Channel {
    return this.#opened(endpoint).channel;
  }

  #intercepted({ base }: Endpoint, transport: Transport): Transport {
    return intercepted(transport, base, this.#interceptors);
  }

  /** Closes the connections to an endpoint whose address is gone, after their last calls. */
  #leave(endpoint: Endpoint): void {
    const opened = this.#open.get(endpoint);
    this.#open.delete(endpoint);
    this.#warmedAtMs.delete(endpoint);
    opened?.channel.retire?.();
  }

  #opened(endpoint: Endpoint): OpenEndpoint {
    let opened = this.#open.get(endpoint);
    if (opened === undefined) {
      const { base, address, url } = endpoint;
      const onReplaced = (): void => this.settings.states.tell({ state: "replaced", endpoint: url });
      const channel = this.#openChannel(base, { ...(address !== undefined && { address }), onReplaced });
      opened = { channel, transport: this.#intercepted(endpoint, channel.transport), clients: new Map() };
      this.#open.set(endpoint, opened);
    }
    return opened;
  }

  async #headers(): Promise<{ readonly headers?: Record<string, string> }> {
    if (this.#token === undefined) return {};
    return { headers: { authorization: await bearerOf(this.#token) } };
  }
}

function rpcTimeoutMs(timeoutMs: number): number {
  return Math.min(Math.max(1, Math.ceil(timeoutMs)), rpcTimeoutMsMax);
}

function lateError(waitMs: number): SnowlaneError {
  const message = `No chunk came within ${Math.round(waitMs)} ms.`;
  return new SnowlaneError("DEADLINE_EXCEEDED", message, { code: "DEADLINE_EXCEEDED" });
}
