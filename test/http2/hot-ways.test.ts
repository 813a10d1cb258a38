/**
 * A call of a hot method is answered on bytes, or by Connect's handlers: the same request must get the same answer both
 * ways. The requests are made from the envelopes, which say what is hot.
 */
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { expect, test } from "vitest";
import { type Application, createApplication } from "../../src/server/call/application.ts";
import type { CallGuard } from "../../src/server/call/call-guard.ts";
import { unknownPeer } from "../../src/server/call/peer.ts";
import type { CallHandler, CallStream } from "../../src/server/call/call-stream.ts";
import type { Envelope, Fields } from "../../src/server/call/envelope/envelope.ts";
import { spellMessage } from "../../src/server/call/envelope/grpc-message.ts";
import { HotCalls } from "../../src/server/call/hot-calls.ts";
import { envelopesOf, pathOf } from "../../src/server/call/hot-route.ts";
import type { HotMethod } from "../../src/service/hot/hot-method.ts";
import { createIdService } from "../../src/service/id-service.ts";
import { createSequenceService } from "../../src/service/sequence-service.ts";
import type { Sequences } from "../../src/sequence/sequences.ts";
import type { ReservedValues, ValueSource } from "../../src/sequence/value-source.ts";
import type { IdRun } from "../../src/snowflake/run.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import type { IdSource, ReservedIds } from "../../src/worker/id-source.ts";
import { IdError } from "../../src/errors.ts";
import { askHttp1, askHttp2, sendBytes } from "../support/http2/http-call.ts";
import { runServer } from "../support/processes/running-server.ts";
import { scale } from "../support/worlds/scale.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";

const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 };
const allowedOrigin = "https://page.example";

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
}

/** The sequence `orders`, whose values are the IDs of a {@link RewoundSource}. */
class RewoundValues {
  readonly isClosed = false;
  readonly isPlain = true;
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
    find,
    findByBytes: (bytes: Buffer, start: number, end: number) => find(bytes.toString("latin1", start, end)),
    open: (name: string) => {
      throw new IdError("SEQUENCE_NOT_FOUND", `There is no sequence ${name}.`, { metadata: { name } });
    },
  } as unknown as Sequences;
}

interface Request {
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

/** Both ways to one service. */
function setUp(version: keyof typeof envelopesOf, guards: readonly CallGuard[] = []) {
  const source = new RewoundSource();
  const service = createIdService({
    source: source as unknown as IdSource,
    clock,
    namespace: "default",
    rollbackPolicy: "advance",
    batchCountMax: 10_000,
    fingerprintNow: () => "0".repeat(32),
  });
  const sequences = createSequenceService({ sequences: sequencesOf(source), clock, batchCountMax: 10_000 });
  const application = createApplication({
    services: [service, sequences],
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
    while (!exchange.isClosed) await new Promise(setImmediate);
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
    trailers: response.trailer === undefined ? [] : sorted([...spellMessage(response.trailer)]),
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

const jsonBodies = [
  "{}",
  "{ }",
  "",
  "null",
  "[]",
  "{",
  "{}}",
  '{"count":3}',
  '{"count":"3"}',
  '{"count": 3}',
  '{"count":3 }',
  '{"count":0}',
  '{"count":007}',
  '{"count":3e0}',
  '{"count":3.0}',
  '{"count":-1}',
  '{"count":4294967296}',
  '{"count":"x"}',
  '{"count":3,"count":4}',
  '{"count":3,"chunkSize":2}',
  '{"count":3, "chunk_size":"2"}',
  '{"chunkSize":2,"chunk_size":3}',
  '{"count":3,}',
  '{,"count":3}',
  '{"count":3"chunkSize":2}',
  '{"count":null}',
  '{"count":true}',
  '{"unknown":1}',
  '{"x":"y"}',
  '{"textFormat":{}}',
  '{"textFormat":{"form":"TEXT_FORM_HEX"}}',
  '{"text_format":null}',
  '{"c\\u006funt":3}',
  '{"count":9007199254740993}',
  '{"count":"9007199254740993"}',
  '{"count":18446744073709551616}',
  '{"count":20000}',
  "\ufeff{}",
  '{"__proto__":1}',
  '{"count":"3","chunkSize":70000}',
  '{"service":""}',
  '{"service":"snowlane.v1.IdService"}',
  '{"service": "grpc.health.v1.Health"}',
  '{"service":"snowlane.v1.idservice"}',
  '{"service":"__proto__"}',
  '{"service":7}',
  '{"name":"orders"}',
  '{"name": "orders"}',
  '{"name":"orders","count":3}',
  '{"name":"orders","count":"3","chunkSize":2}',
  '{"name":"orders","chunkSize":2,"count":3}',
  '{"count":3,"name":"orders"}',
  '{"name":"orders","name":"orders"}',
  '{"name":"orders","count":0}',
  '{"name":"orders","count":2000000}',
  '{"name":"orders","count":3,"chunkSize":70000}',
  '{"name":"texts","count":3}',
  '{"name":"absent","count":3}',
  '{"name":"Orders"}',
  '{"name":""}',
  '{"name":7}',
  '{"name":"ord\\u0065rs"}',
];
const binaryBodies = [
  "",
  "0803",
  "0800",
  "08ffffffff0f",
  "0880808080808080808001",
  "0a00",
  "08031002",
  "0803080410021003",
  "10",
  "080310",
  "ff",
  "1801",
  "08a09c01",
  "0a15736e6f776c616e652e76312e496453657276696365",
  "0a15736e6f776c616e652e76312e4964536572766963650a00",
  "0a16736e6f776c616e652e76312e496453657276696365",
  "0a03612e43",
  "0a01ff",
  "0a066f7264657273",
  "0a066f72646572731003",
  "0a066f7264657273100318",
  "0a066f726465727310031802",
  "0a066f726465727318021003",
  "0a066f72646572731802",
  "0a066f726465727310031004",
  "0a066f72646572731000",
  "0a066f726465727310ffffffffffffffff7f",
  "0a066f72646572731080808080808080808001",
  "0a066f726465727310031880808080808001",
  "10030a066f7264657273",
  "0a066f72646572730a066f7264657273",
  "0a057465787473",
  "0a0574657874731003",
  "0a06616273656e741003",
  "0a076f7264657273",
  "0a056f7264657273",
  "0a00",
  "0a40",
];

const countOf = { json: Buffer.from('{"count":250}'), binary: Buffer.from("08fa01", "hex") };
const noneOf = { json: Buffer.from("{}"), binary: Buffer.alloc(0) };
const namedOf = { json: Buffer.from('{"name":"orders"}'), binary: Buffer.from("0a066f7264657273", "hex") };
const namedCountOf = {
  json: Buffer.from('{"name":"orders","count":250}'),
  binary: Buffer.from("0a066f726465727310fa01", "hex"),
};

/** A request of a method that is answered. */
function soundOf({ descriptor }: HotMethod, codec: "json" | "binary"): Buffer {
  const has = (field: string): boolean => descriptor.input.fields.some(({ name }) => name === field);
  if (has("name")) return (has("count") ? namedCountOf : namedOf)[codec];
  return (has("count") ? countOf : noneOf)[codec];
}

function framed(body: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** All plain requests of one method by one content type, and such as are just not plain. */
function* requestsOf(method: HotMethod, envelope: Envelope, contentType: string): Generator<Request> {
  const { codec } = envelope.contentTypes[contentType]!;
  const bodies =
    codec === "json" ? jsonBodies.map((text) => Buffer.from(text)) : binaryBodies.map((hex) => Buffer.from(hex, "hex"));
  const wrap = (body: Buffer): Buffer => (envelope.isPrefixed ? framed(body) : body);
  const basic = { path: pathOf(method), method: "POST", isOut: false };
  const type = ["content-type", contentType] as const;
  const sound = soundOf(method, codec);
  for (const body of bodies) yield { ...basic, fields: [type], body: wrap(body) };
  for (const body of [Buffer.alloc(3), framed(sound, 1), Buffer.concat([framed(sound), framed(sound)])])
    yield { ...basic, fields: [type], body };
  const timeouts = ["1S", "0m", "1s", "99999999H", "5000", "0", "12345678901", "-1", ""];
  const more: Fields[] = [
    ...timeouts.flatMap((value): Fields[] => [[["grpc-timeout", value]], [["connect-timeout-ms", value]]]),
    ...Object.entries(envelope.plainFields).flatMap(([name, value = "x"]): Fields[] => [
      [[name, value]],
      [[name, "gzip"]],
    ]),
    ...["", "grpc-", "connect-"].flatMap((prefix): Fields[] => [
      [[`${prefix}accept-encoding`, "gzip, deflate"]],
      [[`${prefix}encoding`, "gzip"]],
      [[`${prefix}content-encoding`, "gzip"]],
    ]),
    [["connect-protocol-version", "2"]],
    [["origin", allowedOrigin]],
    [["origin", "https://other.example"]],
    [
      ["user-agent", "x"],
      ["authorization", "y"],
    ],
  ];
  for (const fields of more) yield { ...basic, fields: [type, ...fields], body: wrap(sound) };
  yield { ...basic, isOut: true, fields: [type], body: wrap(sound) };
  yield { ...basic, isOut: true, fields: [type], body: wrap(Buffer.from(codec === "json" ? "{}" : "")) };
  yield { ...basic, method: "GET", fields: [type], body: wrap(sound) };
  yield { ...basic, method: "OPTIONS", fields: [type, ["origin", allowedOrigin]], body: wrap(sound) };
}

/** A deadline that has passed is met at another moment on each way. */
function isTimeless({ fields }: Request): boolean {
  return !fields.some(([name, value]) => name.includes("timeout") && value.startsWith("0"));
}

const versions = Object.keys(envelopesOf) as readonly (keyof typeof envelopesOf)[];

/** Asks both ways; returns whether the request was hot. The body comes in pieces, of which some may be empty. */
async function compare(
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

function* allOf(application: Application, version: keyof typeof envelopesOf) {
  for (const method of application.hotMethods) {
    for (const envelope of envelopesOf[version] as readonly Envelope[]) {
      if (envelope.methods !== "both" && envelope.methods !== method.descriptor.methodKind) continue;
      for (const contentType of Object.keys(envelope.contentTypes)) yield { method, envelope, contentType };
    }
  }
}

test.each(versions)(
  "%s: each rule of what is hot gives the answer that Connect gives, and the plainest are hot",
  async (version) => {
    const ways = setUp(version);
    for (const { method, envelope, contentType } of allOf(ways.application, version)) {
      let hotCount = 0;
      let count = 0;
      for (const request of requestsOf(method, envelope, contentType)) {
        if (!isTimeless(request)) continue;
        count++;
        if (await compare(ways, request, envelope)) hotCount++;
      }
      expect(hotCount, `${pathOf(method)} ${contentType}`).toBeGreaterThan(5);
      expect(hotCount).toBeLessThan(count);
    }
  },
);

test("a guard that refuses a call is answered alike", async () => {
  const guard: CallGuard = {
    begin: () => {
      throw new IdError("QUOTA_EXCEEDED", "Too many: 7 of 5.", { metadata: { limit: 5 }, retryAfterMs: 10 });
    },
  };
  const ways = setUp("HTTP/2", [guard]);
  for (const { method, envelope, contentType } of allOf(ways.application, "HTTP/2")) {
    const body = soundOf(method, envelope.contentTypes[contentType]!.codec);
    const request = {
      path: pathOf(method),
      method: "POST",
      fields: [["content-type", contentType]] as const,
      isOut: false,
    };
    expect(await compare(ways, { ...request, body: envelope.isPrefixed ? framed(body) : body }, envelope)).toBe(true);
  }
});

test.each(versions)(
  "%s: no mutation of a plain request makes the two ways differ",
  {
    timeout: 600_000 * scale,
  },
  async (version) => {
    const seed = Date.now() % 2 ** 31;
    const random = new SeededRandom(seed);
    const ways = setUp(version);
    const all = [...allOf(ways.application, version)].flatMap(({ method, envelope, contentType }) =>
      [...requestsOf(method, envelope, contentType)].filter(isTimeless).map((request) => ({ request, envelope })),
    );
    let hotCount = 0;
    for (let left = 50_000 * scale; left > 0; left--) {
      const { request, envelope } = all[random.below(all.length)]!;
      const body = Buffer.from(request.body);
      for (let changes = random.below(3); changes > 0 && body.length > 0; changes--) {
        const alphabet = '{}[]":,.0123456789 eE-+\\countchunkSizenameorders\u0000\u0008\u0010';
        body[random.below(body.length)] = random.oneIn(4)
          ? random.below(256)
          : alphabet.charCodeAt(random.below(alphabet.length));
      }
      const cut = random.oneIn(10) ? body.subarray(0, random.below(body.length + 1)) : body;
      const [from, to] = [random.below(cut.length + 1), random.below(cut.length + 1)].toSorted((a, b) => a - b);
      const pieces = random.oneIn(2) ? [cut] : [cut.subarray(0, from), cut.subarray(from, to), cut.subarray(to)];
      if (
        await compare(ways, { ...request, body: cut }, envelope, pieces).catch((error: unknown) => {
          throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
        })
      )
        hotCount++;
    }
    expect(hotCount).toBeGreaterThan(5_000 * scale);
  },
);

test.each(Object.entries({ "HTTP/1.1": askHttp1, "HTTP/2": askHttp2 }))(
  "over %s a call gets the same head, whether it is plain or just not",
  async (_name, ask) => {
    const { url, faults } = await runServer({ http2: "engine" });
    const path = "/snowlane.v1.IdService/ReserveIds";
    for (const [plain, odd] of [
      ['{"count":1}', '{ "count":1}'],
      ['{"count":0}', '{ "count":0}'],
    ] as const) {
      const [hot, general] = await Promise.all([plain, odd].map((body) => ask(url, { path, body })));
      const { date, ...fields } = hot!.headers;
      expect(String(date)).toMatch(/GMT$/);
      expect({ ...fields, status: hot!.status }).toEqual({
        ...general!.headers,
        date: undefined,
        status: general!.status,
      });
      expect(hot!.body.length).toBe(general!.body.length);
    }
    expect(faults).toEqual([]);
  },
);

test("over HTTP/1.1 a body in chunks, one that is too long and two in pieces are answered", async () => {
  const { url, address, faults } = await runServer();
  const path = "/snowlane.v1.IdService/NextId";
  const json = { "content-type": "application/json" };
  const chunked = await askHttp1(url, { path, body: "{}", headers: { ...json, "transfer-encoding": "chunked" } });
  expect(chunked.status).toBe(200);
  expect((await askHttp1(url, { path, body: `{"x":"${"y".repeat(5_000)}"}` })).status).toBe(429);
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n`;
  const last = "POST /none HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n";
  const twice = await sendBytes(address, [`${head}{`, `}${head}{}${last}`], "404 Not Found");
  expect(twice.match(/ 200 OK|"id":"\d+"/g)).toHaveLength(4);
  expect(faults).toEqual([]);
});
