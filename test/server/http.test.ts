import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { toBinary, create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { NextIdRequestSchema } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import {
  askHttp1,
  askHttp2,
  grpcFrame,
  type HttpAnswer,
  type HttpQuestion,
  sendBytes,
} from "../support/http2/http-call.ts";
import { runServer } from "../support/processes/running-server.ts";

const nextId = "/snowlane.v1.IdService/NextId";
const issuing = [
  ...["NextId", "BatchNextIds", "ReserveIds"].map((method) => `/snowlane.v1.IdService/${method}`),
  ...["NextValue", "BatchNextValues", "ReserveValues", "CreateSequence", "UpdateSequence"].map(
    (method) => `/snowlane.v1.SequenceService/${method}`,
  ),
];
const grpc = { "content-type": "application/grpc+proto", te: "trailers" };
const empty = grpcFrame(toBinary(NextIdRequestSchema, create(NextIdRequestSchema)));

/** Of a response with messages it is in the trailers, of one without it may be in the headers. */
function grpcStatus({ headers, trailers }: HttpAnswer): unknown {
  return trailers["grpc-status"] ?? headers["grpc-status"];
}

describe.each([
  ["HTTP/1.1", askHttp1],
  ["HTTP/2", askHttp2],
])("over %s", (_name, ask) => {
  test("an ID is a quoted decimal in JSON, and no cache may keep it", async () => {
    const { url } = await runServer();
    const { status, headers, body } = await ask(url, { path: nextId, body: "{}" });
    expect(status).toBe(200);
    expect(headers["cache-control"]).toBe("no-store");
    expect(body.toString()).toMatch(/^\{"id":"\d{17,19}","deployment":\d+\}$/);
  });

  test("a response has a date, by which caches and proxies count its age (it had none)", async () => {
    const { url } = await runServer();
    const { headers } = await ask(url, { path: nextId, body: "{}" });
    expect(Math.abs(Date.parse(String(headers["date"])) - Date.now())).toBeLessThan(60_000);
  });

  test("the calls that issue are refused as GET, whatever they carry", async () => {
    const { url, server } = await runServer();
    const issued = server.source.status().counters.issued;
    for (const path of issuing) {
      for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
        const query = "?connect=v1&encoding=json&message=%7B%7D";
        const { status, headers } = await ask(url, { path: path + query, method, headers: {} });
        expect([path, method, status, headers["allow"], headers["cache-control"]]).toEqual([
          path,
          method,
          405,
          "POST",
          "no-store",
        ]);
      }
    }
    expect(server.source.status().counters.issued).toBe(issued);
  });

  test("Parse can be a GET, for it has no side effects", async () => {
    const { url } = await runServer();
    const message = encodeURIComponent('{"id":"1541815603606036480"}');
    const path = `/snowlane.v1.IdService/Parse?connect=v1&encoding=json&message=${message}`;
    const { status, body } = await ask(url, { path, method: "GET", headers: {} });
    expect([status, JSON.parse(body.toString())]).toMatchObject([200, { createTime: "2022-06-28T16:07:40.105Z" }]);
  });

  test("no page is allowed to call from another origin", async () => {
    const { url } = await runServer();
    const headers = { origin: "https://example.com", "access-control-request-method": "POST" };
    const preflight = await ask(url, { path: nextId, method: "OPTIONS", headers });
    expect(preflight.status).toBe(405);
    const call = await ask(url, {
      path: nextId,
      headers: { ...headers, "content-type": "application/json" },
      body: "{}",
    });
    for (const answer of [preflight, call]) expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("pages of the origins of a pattern may call, and others may not", async () => {
    const { url } = await runServer({ corsOrigin: "https://pr-*.preview.example.com" });
    const allowedFor = async (origin: string): Promise<unknown> => {
      const headers = { origin, "access-control-request-method": "POST", "content-type": "application/json" };
      const { headers: preflight } = await ask(url, { path: nextId, method: "OPTIONS", headers });
      const { headers: call } = await ask(url, { path: nextId, headers, body: "{}" });
      return [preflight, call].map((fields) => fields["access-control-allow-origin"]);
    };
    const [good, evil] = ["https://pr-12.preview.example.com", "https://pr-12.preview.example.com.evil.example"];
    expect(await allowedFor(good)).toEqual([good, good]);
    expect(await allowedFor(evil)).toEqual([undefined, undefined]);
  });

  test("pages of an origin on the list may call, and others may not", async () => {
    const page = "https://app.example.com";
    const { url, server } = await runServer({ corsOrigin: `http://localhost:5173,${page}` });
    const headersOf = (origin: string) => ({
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "connect-protocol-version,content-type",
    });
    const allowed = await ask(url, { path: nextId, method: "OPTIONS", headers: headersOf(page) });
    expect([allowed.status, allowed.body.length]).toEqual([204, 0]);
    expect(allowed.headers).toMatchObject({
      "access-control-allow-origin": page,
      "access-control-allow-methods": "POST",
      "access-control-max-age": "7200",
      "cache-control": "no-store",
      vary: "Origin",
    });
    const named = String(allowed.headers["access-control-allow-headers"]).toLowerCase().split(", ");
    const needed = ["content-type", "connect-protocol-version", "connect-timeout-ms", "grpc-timeout", "x-grpc-web"];
    // FIELD F11 (e): instruments of pages add them to every call.
    const added = ["traceparent", "tracestate", "baggage", "x-request-id"];
    expect(named).toEqual(expect.arrayContaining([...needed, ...added, "x-user-agent", "authorization"]));
    const parse = { path: "/snowlane.v1.IdService/Parse", method: "OPTIONS", headers: headersOf(page) };
    expect((await ask(url, parse)).headers["access-control-allow-methods"]).toMatch(/^(GET, POST|POST, GET)$/);

    const json = { "content-type": "application/json" };
    const call = await ask(url, { path: nextId, headers: { ...json, origin: page }, body: "{}" });
    expect(call.headers).toMatchObject({ "access-control-allow-origin": page, vary: "Origin" });
    expect(call.headers["access-control-expose-headers"]).toMatch(
      /Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin/i,
    );
    expect(call.headers["access-control-allow-credentials"]).toBeUndefined();
    const refused = { path: nextId, headers: { ...json, origin: page }, body: "[]" };
    expect((await ask(url, refused)).headers["access-control-allow-origin"]).toBe(page);

    const issued = server.source.status().counters.issued;
    for (const origin of [
      "https://evil.example",
      `${page}:444`,
      `${page}.evil.example`,
      "http://app.example.com",
      "null",
    ]) {
      const preflight = await ask(url, { path: nextId, method: "OPTIONS", headers: headersOf(origin) });
      expect([origin, preflight.status]).toEqual([origin, 405]);
      expect(preflight.headers["access-control-allow-origin"]).toBeUndefined();
      // What a page can send without a preflight is none of ours.
      const form = { origin, "content-type": "text/plain" };
      expect((await ask(url, { path: nextId, headers: form, body: "{}" })).status).toBe(415);
    }
    expect(server.source.status().counters.issued).toBe(issued);
  });

  test.each<[string, HttpQuestion, number]>([
    ["an unknown path", { path: "/nothing" }, 404],
    ["an unknown method of ours", { path: "/snowlane.v1.IdService/Nothing" }, 404],
    ["a path that is not a URL", { path: "//" }, 404],
    ["a body without its type", { path: nextId, headers: {}, body: "{}" }, 415],
    ["a form", { path: nextId, headers: { "content-type": "application/x-www-form-urlencoded" }, body: "{}" }, 415],
    ["text that is not JSON", { path: nextId, body: "{" }, 400],
    ["JSON that is not a request", { path: nextId, body: "[]" }, 400],
    ["a count that is not a number", { path: issuing[2]!, body: '{"count":"many"}' }, 400],
    ["a negative count", { path: issuing[2]!, body: '{"count":-1}' }, 400],
    ["an ID of 64 bits and more", { path: "/snowlane.v1.IdService/Parse", body: '{"id":"18446744073709551616"}' }, 400],
    ["a negative ID", { path: "/snowlane.v1.IdService/Parse", body: '{"id":"-1"}' }, 400],
    ["two sources", { path: "/snowlane.v1.IdService/Parse", body: '{"id":"1","text":"1"}' }, 400],
    ["a message above the limit", { path: nextId, body: `{"textFormat":{"serialPrefix":"${"A".repeat(5000)}"}}` }, 429],
    ["a message far above the limit", { path: nextId, body: " ".repeat(1_000_000) }, 429],
  ])("%s is refused", async (_case, question, expected) => {
    const { url, faults } = await runServer();
    const { status, body } = await ask(url, question);
    expect([status, body.toString()]).toEqual([expected, expect.not.stringContaining("/src/")]);
    expect((await ask(url, { path: nextId, body: "{}" })).status).toBe(200);
    expect(faults).toEqual([]);
  });

  const json = "content-type: application/json";
  test.each<[string, HttpQuestion, number, string]>([
    ["an unknown path", { path: "/nothing", body: "{}" }, 404, json],
    ["an unknown page", { path: "/nothing", method: "GET" }, 404, json],
    ["a method of ours that is not there", { path: "/snowlane.v1.IdService/Nothing", body: "{}" }, 404, json],
    ["a call by GET", { path: nextId, method: "GET" }, 405, json],
    ["a call without a type", { path: nextId, headers: {}, body: "{}" }, 415, json],
    [
      "a stream in a unary type",
      { path: "/snowlane.v1.IdService/BatchNextIds", body: "{}" },
      415,
      "application/connect+json",
    ],
    ["a message to the page", { path: "/", body: "{}" }, 405, "GET or HEAD"],
  ])("%s: one line of text says what to send", async (_case, question, expected, named) => {
    const { url } = await runServer();
    const { status, headers, body } = await ask(url, question);
    expect([status, headers["content-type"]]).toEqual([expected, "text/plain; charset=utf-8"]);
    expect(body.toString()).toMatch(/^[^\n]+\n$/);
    expect(body.toString()).toContain(named);
  });

  test("headers above 16 KiB are refused, and the server goes on", async () => {
    const { url } = await runServer();
    const headers = { "content-type": "application/json", "x-big": "x".repeat(20_000) };
    const refused = await ask(url, { path: nextId, headers, body: "{}" }).then(
      ({ status }) => status,
      () => "cut off",
    );
    expect([431, "cut off"]).toContain(refused);
    expect((await ask(url, { path: nextId, body: "{}" })).status).toBe(200);
  });
});

test("gRPC: an unknown method or service is UNIMPLEMENTED in headers that end the stream", async () => {
  const { url } = await runServer();
  for (const path of ["/snowlane.v1.IdService/Nothing", "/nothing.Service/Method", "/%"]) {
    const { status, headers, body } = await askHttp2(url, { path, headers: grpc, body: empty });
    expect([status, headers["grpc-status"], body.length]).toEqual([200, "12", 0]);
  }
});

test("gRPC: bytes that are not a message are refused with a code, and the connection goes on", async () => {
  const { url, faults } = await runServer();
  for (const bytes of [
    Buffer.from([0, 0, 0, 0, 1, 0xff]),
    Buffer.from([1, 0, 0, 0, 1, 0]),
    Buffer.from([0, 0xff, 0xff, 0xff, 0xff]),
  ]) {
    const answer = await askHttp2(url, { path: nextId, headers: grpc, body: bytes });
    expect(Number(grpcStatus(answer))).toBeGreaterThan(0);
  }
  expect(faults).toEqual([]);
});

test("a compressed request that grows beyond the limit is refused", async () => {
  const { url, server } = await runServer();
  const bomb = gzipSync(Buffer.alloc(3_000_000, " "));
  // Small enough itself: what it grows to is why it is refused.
  expect(bomb.length).toBeLessThan(4_000);
  const frame = grpcFrame(bomb);
  frame[0] = 1;
  const framed = { ...grpc, "grpc-encoding": "gzip" };
  expect(grpcStatus(await askHttp2(url, { path: nextId, headers: framed, body: frame }))).toBe("8");
  const json = { "content-type": "application/json", "content-encoding": "gzip" };
  for (const ask of [askHttp1, askHttp2]) {
    expect((await ask(url, { path: nextId, headers: json, body: bomb })).status).toBe(429);
    expect((await ask(url, { path: nextId, headers: json, body: gzipSync("{}") })).status).toBe(200);
  }
  expect(server.source.status().counters.issued).toBe(2);
});

test("a deadline that no timer can count is left out", async () => {
  const { url } = await runServer();
  for (const timeout of ["99999999H", "2147484S"]) {
    const answer = await askHttp2(url, {
      path: nextId,
      headers: { ...grpc, "grpc-timeout": timeout },
      body: empty,
    });
    expect(grpcStatus(answer)).toBe("0");
  }
  const headers = { "content-type": "application/json", "connect-timeout-ms": "9999999999" };
  expect((await askHttp1(url, { path: nextId, headers, body: "{}" })).status).toBe(200);
});

test("a deadline that has passed is DEADLINE_EXCEEDED", async () => {
  const { url } = await runServer();
  const answer = await askHttp2(url, { path: nextId, headers: { ...grpc, "grpc-timeout": "1n" }, body: empty });
  expect(["0", "4"]).toContain(grpcStatus(answer));
});

function oneByOne(text: string): readonly string[] {
  return text.split("");
}

test("the first bytes may come one by one", async () => {
  const { address } = await runServer();
  const lines = [
    "POST /snowlane.v1.IdService/NextId HTTP/1.1",
    "host: localhost",
    "content-type: application/json",
    "content-length: 2",
    "",
    "{}",
  ];
  const text = lines.join("\r\n");
  expect(await sendBytes(address, [...oneByOne(text.slice(0, 6)), text.slice(6)], "}")).toMatch(
    /^HTTP\/1\.1 200 OK[\s\S]*\{"id":"\d+","deployment":\d+\}$/,
  );
  const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  const answer = await sendBytes(
    address,
    [...oneByOne(preface.slice(0, 5)), preface.slice(5), settings],
    "\u0004\u0001",
  );
  expect(answer.charCodeAt(3)).toBe(4);
});

test("what is neither HTTP/1.1 nor HTTP/2 is closed, and the server goes on", async () => {
  const { address, url } = await runServer();
  for (const bytes of [
    "\u0016\u0003\u0001\u0002\u0000",
    "hello\r\n\r\n",
    "PRI nonsense, and more of it that is long enough\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
  ]) {
    await sendBytes(address, [bytes]);
  }
  expect((await askHttp1(url, { path: nextId, body: "{}" })).status).toBe(200);
});

test("more connections in a second than allowed wait, and all are served", async () => {
  const { url } = await runServer({ connectionsPerSecond: "4" });
  const answers = await Promise.all(Array.from({ length: 6 }, () => askHttp1(url, { path: nextId, body: "{}" })));
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(6).fill(200));
});

test("a caller that connects and leaves without a word takes no place in the line", async () => {
  const { address, url } = await runServer({ connectionsPerSecond: "1" });
  const [host, port] = address.split(":");
  const leave = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), host, () => socket.end(resolve));
      socket.on("error", () => undefined);
    });
  // As many seconds in line, each of them, if they stood in it: longer than anybody may wait.
  await Promise.all(Array.from({ length: 30 }, leave));
  expect((await askHttp1(url, { path: nextId, body: "{}" })).status).toBe(200);
});

test("more connections than allowed are closed, and the others go on", async () => {
  const { address, url } = await runServer({ connectionsMax: "2" });
  const [host, port] = address.split(":");
  const sockets = Array.from({ length: 4 }, () => connect(Number(port), host).on("error", () => undefined));
  await Promise.all(sockets.slice(2).map((socket) => new Promise((resolve) => socket.once("close", resolve))));
  for (const socket of sockets.slice(0, 2)) {
    const answer = new Promise((resolve) => socket.once("data", (bytes) => resolve(bytes.toString())));
    socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  }
  for (const socket of sockets) socket.destroy();
  await expect
    .poll(() =>
      askHttp1(url, { path: nextId, body: "{}" }).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
});
