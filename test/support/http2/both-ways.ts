/** The two ways of a call to one service: on bytes, and by Connect's handlers. */
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { expect } from "vitest";
import { IdError } from "../../../src/errors.ts";
import type { ListedWorker, WorkerList } from "../../../src/lease/worker-list.ts";
import type { Sequences } from "../../../src/sequence/sequences.ts";
import type { ReservedValues, ValueSource } from "../../../src/sequence/value-source.ts";
import { type Application, createApplication } from "../../../src/server/call/application.ts";
import type { CallGuard } from "../../../src/server/call/call-guard.ts";
import type { CallHandler, CallStream } from "../../../src/server/call/call-stream.ts";
import type { Envelope, Fields } from "../../../src/server/call/envelope/envelope.ts";
import { encodeMessageField } from "../../../src/server/call/envelope/grpc-message.ts";
import { HotCalls } from "../../../src/server/call/hot-calls.ts";
import { envelopesOf } from "../../../src/server/call/hot-route.ts";
import { unknownPeer } from "../../../src/server/call/peer.ts";
import { createAdminService } from "../../../src/service/admin-service.ts";
import { createIdService } from "../../../src/service/id-service.ts";
import { createSequenceService } from "../../../src/service/sequence-service.ts";
import type { Service } from "../../../src/service/service.ts";
import type { StatusSample } from "../../../src/service/status-samples.ts";
import { layouts } from "../../../src/snowflake/presets.ts";
import type { IdRun } from "../../../src/snowflake/run.ts";
import type { IdSource, ReservedIds, WorkerStatus } from "../../../src/worker/id-source.ts";

const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 };
/** An answer needs a few turns of the event loop. */
const turnsMax = 100_000;
export const allowedOrigin = "https://page.example";

/** Three workers, so that a page may end before the last. */
const workers: WorkerList = {
  total: 1_024,
  free: 1_021,
  neverHeld: 1_000,
  quarantine: undefined,
  workers: [0, 1, 2].map(
    (workerIndex) => ({ workerIndex, datacenterId: 0, workerId: workerIndex, state: "expired" }) as ListedWorker,
  ),
} as unknown as WorkerList;

const samples: readonly StatusSample[] = [1, 2, 3, 4].map((index) => ({
  index,
  timeMs: 1_699_999_000_000 + index * 1_000,
  idsCount: index * 1_000,
  valuesCount: 0,
  callCount: 7,
  errorCount: 0,
  errorCodes: [],
  p50Ms: 0.2,
  p99Ms: undefined,
  leadMs: 0,
  windowLeftMs: 40.5,
}));

/** A source that gives the same IDs again after each `rewind`. */
class RewoundSource {
  readonly layout = layouts.twitter;
  readonly reserveCountMax = 1_048_576;
  readonly risingSpan = 1;
  #next = 0n;
  isOut = false;

  get state(): { readonly kind: "serving" | "waiting" } {
    return { kind: this.isOut ? "waiting" : "serving" };
  }

  rewind(isOut: boolean): void {
    this.#next = 9_007_199_254_740_993n;
    this.isOut = isOut;
  }

  tryNext(): bigint | undefined {
    return this.isOut ? undefined : this.#next++;
  }

  reserve({ count }: { readonly count: number }): ReservedIds {
    if (this.isOut) {
      throw new IdError("STORE_UNAVAILABLE", "100 % of the store's äste are away", { retryAfterMs: 1_500 });
    }
    const runs: IdRun[] = [];
    for (let left = Math.min(count, 300); left > 0; left -= 100) {
      const run = { firstId: this.#next, count: Math.min(left, 100), stride: 1n };
      this.#next += 1_000n;
      runs.push(run);
    }
    return { runs, count: runs.reduce((sum, run) => sum + run.count, 0), risingSpan: 1 };
  }

  onStateChange(): () => void {
    return () => undefined;
  }

  status(): WorkerStatus {
    const grant = {
      datacenterId: 1,
      workerId: 7,
      generation: 3,
      sinceMs: 1_699_999_000_000,
      windowLeftMs: 40,
      leadMs: 0,
    };
    return {
      phase: "serving",
      grant,
      store: { kind: "sqlite", reachable: true, lastAnswerMs: 0, clockAheadMs: -1 },
      waiting: 2,
    } as unknown as WorkerStatus;
  }
}

/** The sequence `orders`, whose values are the IDs of a {@link RewoundSource}. */
class RewoundValues {
  readonly isClosed = false;
  readonly isPlain = true;
  readonly stored = { definition: { textTemplate: "" } };
  readonly writeText = undefined;
  readonly periodKey = "";
  readonly #source: RewoundSource;

  constructor(source: RewoundSource) {
    this.#source = source;
  }

  tryNext(): bigint | undefined {
    return this.#source.tryNext();
  }

  reserve(request: { readonly count: number }): ReservedValues {
    const { runs, count } = this.#source.reserve(request);
    const values = runs.map(({ firstId, count, stride }) => ({ firstValue: firstId, count, increment: stride }));
    return { runs: values, count, periodKey: "" };
  }
}

/** Sequences of which `orders` alone is in memory; `texts` has a template, and there is no other. */
function sequencesOf(source: RewoundSource): Sequences {
  const orders = new RewoundValues(source) as unknown as ValueSource;
  const texts = Object.assign(new RewoundValues(source), {
    isPlain: false,
    writeText: (value: bigint) => `T-${value}`,
  }) as unknown as ValueSource;
  const find = (name: string): ValueSource | undefined => ({ orders, texts })[name];
  return {
    databaseId: "8badf00d".padEnd(32, "0"),
    find,
    findByBytes: (bytes: Buffer, start: number, end: number) => find(bytes.toString("latin1", start, end)),
    open: (name: string) => {
      throw new IdError("SEQUENCE_NOT_FOUND", `There is no sequence ${name}.`, { metadata: { name } });
    },
    catalog: () => Promise.reject(new IdError("STORE_UNAVAILABLE", "The database is away.", { retryAfterMs: 1_500 })),
    reportFailedCall: () => undefined,
  } as unknown as Sequences;
}

export interface Request {
  readonly path: string;
  readonly method: string;
  readonly fields: Fields;
  readonly body: Buffer;
  readonly isOut: boolean;
}

interface Answer {
  readonly status: number;
  readonly fields: readonly string[];
  readonly body: string;
  readonly trailers: readonly string[];
}

const sorted = (fields: Fields): string[] => fields.map(([name, value]) => `${name}: ${value}`).toSorted();

/** One request on bytes, without a connection. */
class Exchange implements CallStream<Fields> {
  readonly head: CallStream<Fields>["head"];
  readonly openedMs = 0;
  hasEnded = false;
  handler: CallHandler<CallStream<Fields>> = {};
  isClosed = false;
  head200: Fields | undefined;
  trailers: Fields = [];
  readonly parts: Buffer[] = [];

  constructor({ path, method, fields }: Request) {
    const list = fields.map(([name, value]) => ({ name, value }));
    this.head = {
      path,
      method,
      fields: list,
      get: (name) => fields.find((field) => field[0] === name)?.[1],
      note: undefined,
    };
  }

  get hasResponded(): boolean {
    return this.head200 !== undefined;
  }

  respond(block: Fields, then: "body" | "end"): void {
    this.head200 = block;
    if (then === "end") this.isClosed = true;
  }

  write(bytes: Uint8Array): boolean {
    this.parts.push(Buffer.from(bytes));
    return true;
  }

  writeLent(bytes: Uint8Array): boolean {
    return this.write(bytes);
  }

  end(trailers: Fields = []): void {
    this.trailers = trailers;
    this.isClosed = true;
  }

  reset(): void {
    throw new Error("the call was reset");
  }

  get answer(): Answer {
    const [[, status] = ["", ""], ...fields] = this.head200 ?? [];
    const body = Buffer.concat(this.parts).toString("latin1");
    return { status: Number(status), fields: sorted(fields), body, trailers: sorted(this.trailers) };
  }
}

/** All services over one source. */
function servicesOf(source: RewoundSource): readonly Service[] {
  const ids = createIdService({
    source: source as unknown as IdSource,
    clock,
    namespace: "default",
    rollbackPolicy: "advance",
    batchCountMax: 10_000,
    fingerprintNow: () => "0".repeat(32),
    bindingNow: () => ({ datacenterIds: [3], workerIds: "all" }),
  });
  const sequences = createSequenceService({ sequences: sequencesOf(source), clock, batchCountMax: 10_000 });
  const admin = createAdminService({
    pastClaims: undefined,
    // Not before the next turn, as from a store.
    listWorkers: async () => {
      await new Promise(setImmediate);
      if (!source.isOut) return workers;
      throw new IdError("STORE_UNAVAILABLE", "100 % of the store's äste are away");
    },
    status: {
      source,
      samples: { after: (index) => samples.filter((sample) => sample.index > index) },
      clock,
      startMs: 1_699_999_000_000,
      findUnready: () => (source.isOut ? { reason: "STORE_UNAVAILABLE" } : undefined),
      connectionCount: () => 5,
      neverHeldCount: () => 1_019,
    },
  });
  return [ids, sequences, admin];
}

/** Both ways to one service. */
export function setUp(version: keyof typeof envelopesOf, guards: readonly CallGuard[] = []) {
  const source = new RewoundSource();
  const application = createApplication({
    services: servicesOf(source),
    guards,
    corsOrigins: [allowedOrigin],
    findUnready: () => undefined,
    page: "off",
    drainSignal: new AbortController().signal,
    shutdownSignal: new AbortController().signal,
    onUnforeseen: (error) => {
      throw error;
    },
  });
  let handedOn: Buffer[] | undefined;
  const hot = new HotCalls<Fields, Exchange>({
    methods: application.hotMethods,
    envelopes: envelopesOf[version],
    crossOrigin: application.crossOrigin,
    encode: (fields) => fields,
    dateClock: undefined,
    others: () => {
      const bodies: Buffer[] = (handedOn = []);
      return { onData: (_, bytes, start, end) => bodies.push(Buffer.from(bytes.subarray(start, end))) };
    },
    clock,
    stallTimeoutMs: 1_000,
    guard: application.guard,
    peerOf: () => unknownPeer,
    toError: application.toError,
  });
  /** Undefined where the request is handed on: then with every byte of its body. */
  const onBytes = async (request: Request, pieces: readonly Buffer[]): Promise<Answer | undefined> => {
    source.rewind(request.isOut);
    handedOn = undefined;
    const exchange = new Exchange(request);
    exchange.handler = hot.onRequest(exchange);
    for (const [index, piece] of pieces.entries()) {
      exchange.hasEnded = index === pieces.length - 1;
      if (piece.length === 0) continue;
      // As a frame lies in what a socket has read; the socket then uses the buffer again.
      const bytes = Buffer.concat([Buffer.from("##"), piece, Buffer.from("#")]);
      exchange.handler.onData?.(exchange, bytes, 2, 2 + piece.length);
      bytes.fill("#");
    }
    exchange.hasEnded = true;
    exchange.handler.onEnd?.(exchange, []);
    if (handedOn !== undefined) {
      expect(Buffer.concat(handedOn)).toEqual(request.body);
      return undefined;
    }
    for (let turns = 0; !exchange.isClosed; turns++) {
      if (turns === turnsMax)
        throw new Error(`${request.path} got no end of its answer: ${request.body.toString("hex")}`);
      await new Promise(setImmediate);
    }
    return exchange.answer;
  };
  const byConnect = (request: Request): Promise<Answer> => {
    source.rewind(request.isOut);
    return answerOf(application, request, version);
  };
  return { application, onBytes, byConnect };
}

async function answerOf({ dispatch }: Application, request: Request, version: string): Promise<Answer> {
  const { path, method, fields, body } = request;
  const { status, ...response } = await dispatch({
    httpVersion: version === "HTTP/2" ? "2.0" : "1.1",
    method,
    url: `http://localhost${path}`,
    path,
    header: new Headers(fields.map(([name, value]): [string, string] => [name, value])),
    body: createAsyncIterable([body]),
    signal: new AbortController().signal,
  });
  const parts: Uint8Array[] = [];
  for await (const part of response.body ?? []) parts.push(part);
  return {
    status,
    fields: sorted([...(response.header ?? [])]),
    body: Buffer.concat(parts).toString("latin1"),
    trailers: response.trailer === undefined ? [] : sorted([...encodeMessageField(response.trailer)]),
  };
}

/**
 * What gRPC answers with: the content type that was asked with, no encoding where nothing is compressed, and one block
 * where there is no message.
 */
function asHotGrpc(answer: Answer, contentType: string): Answer {
  const own = answer.fields.filter((field) => !field.startsWith("grpc-encoding: "));
  const fields = own.map((field) => (field.startsWith("content-type: ") ? `content-type: ${contentType}` : field));
  const isAlone = answer.body === "" && answer.trailers.length > 0;
  return isAlone
    ? { ...answer, fields: [...fields, ...answer.trailers].toSorted(), trailers: [] }
    : { ...answer, fields };
}

/** Asks both ways; returns whether the request was hot. The body comes in pieces, of which some may be empty. */
export async function compare(
  ways: ReturnType<typeof setUp>,
  request: Request,
  envelope: Envelope,
  pieces: readonly Buffer[] = [request.body],
): Promise<boolean> {
  const hot = await ways.onBytes(request, pieces);
  if (hot === undefined) return false;
  const byConnect = await ways.byConnect(request);
  const contentType = request.fields[0]![1];
  expect(hot, JSON.stringify({ ...request, body: request.body.toString("latin1") })).toEqual(
    envelope.protocol === "gRPC" ? asHotGrpc(byConnect, contentType) : byConnect,
  );
  return true;
}
