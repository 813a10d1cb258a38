/**
 * A call of a hot method is answered on bytes, or by Connect's handlers: the same request must get the same answer both
 * ways. The requests are made from the envelopes, which say what is hot.
 */
import { expect, test } from "vitest";
import { IdError } from "../../src/errors.ts";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import type { Application } from "../../src/server/call/application.ts";
import type { CallGuard } from "../../src/server/call/call-guard.ts";
import type { Envelope, Fields } from "../../src/server/call/envelope/envelope.ts";
import { envelopesOf, pathOf } from "../../src/server/call/hot-route.ts";
import type { HotMethod } from "../../src/service/hot/hot-method.ts";
import { allowedOrigin, compare, type Request, setUp } from "../support/http2/both-ways.ts";
import { askHttp1, askHttp2, sendBytes } from "../support/http2/http-call.ts";
import { runServer } from "../support/processes/running-server.ts";
import { scale } from "../support/worlds/scale.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";

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
  // Parse: an ID, a text, both, with a form, with an invalid layout; then intervals, and a page token.
  "09010000000000800f",
  "09ffffffffffffffff",
  "120131",
  "1213313534313831353630333630363033363532",
  "12133135343138313536303336303630333635322002",
  "12013128ff01",
  "1203616263",
  "090100000000000000120131",
  "1201311a020a00",
  "0a060880e2cfaa0612060881e2cfaa06",
  "0a060881e2cfaa0612060880e2cfaa06",
  "0802",
  "0802120761667465722d31",
  "120761667465722d39",
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

function* allOf(application: Application, version: keyof typeof envelopesOf) {
  for (const method of application.hotMethods) {
    // A stream of Watch has no end to compare: the tests of health hold both of its ways.
    if (method.descriptor === Health.method.watch) continue;
    for (const envelope of envelopesOf[version] as readonly Envelope[]) {
      if (envelope.methods !== "both" && envelope.methods !== method.descriptor.methodKind) continue;
      for (const [contentType, { codec }] of Object.entries(envelope.contentTypes)) {
        if (codec === "binary" || method.hasPlainJson) yield { method, envelope, contentType };
      }
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
