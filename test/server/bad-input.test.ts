import { type Client, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { askHttp1, askHttp2, grpcFrame } from "../support/http2/http-call.ts";
import { runServer } from "../support/processes/running-server.ts";

type IdClient = Client<typeof IdService>;

const uint32Max = 2 ** 32 - 1;
const reserveMax = 1_048_576;
const batchMax = 1_000_000_000n;

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

/** Each call that is refused, with its reason. */
const refused: readonly (readonly [what: string, call: (client: IdClient) => Promise<unknown>, reason: string])[] = [
  ["no IDs at all", (client) => client.reserveIds({ count: 0 }), "COUNT_OUT_OF_RANGE"],
  ["one ID above the limit", (client) => client.reserveIds({ count: reserveMax + 1 }), "COUNT_OUT_OF_RANGE"],
  ["2^32 - 1 IDs", (client) => client.reserveIds({ count: uint32Max }), "COUNT_OUT_OF_RANGE"],
  ["a stream of none", (client) => drain(client.batchNextIds({ count: 0n })), "COUNT_OUT_OF_RANGE"],
  ["a stream above the limit", (client) => drain(client.batchNextIds({ count: batchMax + 1n })), "COUNT_OUT_OF_RANGE"],
  ["a stream of 2^32 - 1", (client) => drain(client.batchNextIds({ count: 2n ** 32n - 1n })), "COUNT_OUT_OF_RANGE"],
  ["a stream of 2^64 - 1", (client) => drain(client.batchNextIds({ count: 2n ** 64n - 1n })), "COUNT_OUT_OF_RANGE"],
  [
    "chunks above the limit",
    (client) => drain(client.batchNextIds({ count: 10n, chunkSize: 65_537 })),
    "COUNT_OUT_OF_RANGE",
  ],
  [
    "chunks of 2^32 - 1",
    (client) => drain(client.batchNextIds({ count: 10n, chunkSize: uint32Max })),
    "COUNT_OUT_OF_RANGE",
  ],
  ["an ID with bit 63 set", (client) => client.parse({ source: { case: "id", value: 2n ** 63n } }), "MALFORMED_ID"],
  [
    "the highest of 64 bits",
    (client) => client.parse({ source: { case: "id", value: 2n ** 64n - 1n } }),
    "MALFORMED_ID",
  ],
  ["no source", (client) => client.parse({}), "MALFORMED_ID"],
  ["a negative text", (client) => client.parse({ source: { case: "text", value: "-1" } }), "MALFORMED_TEXT"],
  ["an empty text", (client) => client.parse({ source: { case: "text", value: "" } }), "MALFORMED_TEXT"],
  ["a text of nothing known", (client) => client.parse({ source: { case: "text", value: "ä" } }), "MALFORMED_TEXT"],
  [
    "an unknown layout",
    (client) => client.parse({ source: { case: "id", value: 1n }, layout: { name: "nothing" } }),
    "INVALID_LAYOUT",
  ],
  ["a time range without ends", (client) => client.getIdRange({}), "INVALID_TIME_RANGE"],
];

/** Bodies that the RPC layer refuses before any handler sees them. */
const undecodable: readonly (readonly [method: string, body: string])[] = [
  ["Parse", '{"id": "-1"}'],
  ["Parse", '{"id": -1}'],
  ["Parse", '{"id": "18446744073709551616"}'],
  ["Parse", '{"id": 1.5}'],
  ["Parse", '{"id": "twelve"}'],
  ["Parse", '{"id": "1", "text": "1"}'],
  ["ReserveIds", '{"count": -1}'],
  ["ReserveIds", '{"count": 4294967296}'],
  ["ReserveIds", '{"count": "many"}'],
  ["NextId", "{"],
  ["NextId", "[]"],
];

const transports = {
  gRPC: (baseUrl: string) => createGrpcTransport({ baseUrl }),
  "Connect with JSON": (baseUrl: string) =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
};

describe.each(Object.entries(transports))("over %s", (_, createTransport) => {
  test("every bad call gets its reason, nothing is lost, and the next good one is answered", async () => {
    const { url, faults, server } = await runServer();
    const client = createClient(IdService, createTransport(url));
    const first = (await client.nextId({})).id;
    const { issued } = server.source.status().counters;
    for (const [what, call, reason] of refused) {
      const error = await call(client).then(
        () => undefined,
        (thrown: unknown) => ConnectError.from(thrown),
      );
      const info = error?.findDetails(ErrorInfoSchema);
      expect([what, info?.map((detail) => detail.reason)]).toEqual([what, [reason]]);
      expect([what, error?.code]).toEqual([what, 3]);
    }
    expect(server.source.status().counters.issued).toBe(issued);
    expect((await client.nextId({})).id).toBeGreaterThan(first);
    expect(faults).toEqual([]);
  });
});

test.each(undecodable)("what does not decode is refused with its code alone: %s %s", async (method, body) => {
  const { url, faults } = await runServer();
  const answer = await askHttp1(url, { path: `/snowlane.v1.IdService/${method}`, body });
  const { code, details } = JSON.parse(answer.body.toString());
  expect([answer.status, code, details ?? []]).toEqual([400, "invalid_argument", []]);
  expect(faults).toEqual([]);
});

/** Bodies in which JSON spells half of a surrogate pair; Connect's errors repeat some of them. */
const loneSurrogates = [
  '{"id":"\\ud800"}',
  '{"text":"\\ud800"}',
  '{"id":"1","layout":{"name":"\\udfff"}}',
  '{"id":["\\ud800"]}',
];

test.each([
  ["application/grpc+json", "3"],
  ["application/grpc-web+json", undefined],
])(
  "a lone surrogate in %s is refused, and is not a fault of the server (it reset the stream)",
  async (type, status) => {
    const { url, faults, log } = await runServer();
    for (const body of loneSurrogates) {
      const headers = { "content-type": type, te: "trailers" };
      const path = "/snowlane.v1.IdService/Parse";
      const answer = await askHttp2(url, { path, headers, body: grpcFrame(Buffer.from(body)) });
      expect([body, answer.trailers["grpc-status"]]).toEqual([body, status]);
      // The trailers of gRPC-Web are part of the body.
      if (status === undefined) expect(answer.body.toString("latin1")).toMatch(/grpc-status: 3\r\n/);
    }
    expect(faults).toEqual([]);
    expect(log.filter((line) => line.includes('"error"'))).toEqual([]);
  },
);
