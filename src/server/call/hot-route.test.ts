import { expect, test } from "vitest";
import type { HotMethod } from "../../service/hot/hot-method.ts";
import { Field } from "../../http2/hpack/field.ts";
import { createRequestHead } from "../../http2/request-head.ts";
import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import { CrossOrigin } from "./cors.ts";
import type { Fields } from "./envelope/envelope.ts";
import { envelopesOf, type HotRoute, HotRoutes, pathOf } from "./hot-route.ts";

const method: HotMethod = {
  descriptor: IdService.method.nextId,
  hasPlainJson: true,
  kind: "hot",
  read: () => undefined,
};
const routes = new HotRoutes({
  methods: [method],
  envelopes: envelopesOf["HTTP/2"],
  crossOrigin: new CrossOrigin(["https://page.example"]),
  encode: (fields) => fields,
  dateClock: undefined,
});

type Pairs = readonly (readonly [name: string, value: string])[];

function route(more: Pairs, pseudo: Readonly<Record<string, string>> = {}): HotRoute<Fields> | undefined {
  const fields: Pairs = [
    [":method", pseudo["method"] ?? "POST"],
    [":scheme", "http"],
    [":path", pseudo["path"] ?? pathOf(method)],
    [":authority", "localhost"],
    ...more,
  ];
  return routes.read(createRequestHead(fields.map(([name, value]) => new Field(name, value)))!);
}

const grpc = ["content-type", "application/grpc"] as const;

test("plain gRPC is taken, and answered with the content type that was asked with", () => {
  for (const type of ["application/grpc", "application/grpc+proto"]) {
    const taken = route([["content-type", type]]);
    expect(taken).toMatchObject({ method, timeoutMs: undefined });
    expect(taken?.heads.plain).toContainEqual(["content-type", type]);
  }
});

test("fields that are none of its business do not matter", () => {
  const more: Pairs = [
    ["te", "trailers"],
    ["user-agent", "x"],
    ["grpc-accept-encoding", "gzip"],
    ["authorization", "y"],
  ];
  expect(route([grpc, ...more, ["grpc-encoding", "identity"]])).toBeDefined();
});

test.each<[string, Pairs, Readonly<Record<string, string>>?]>([
  ["another method", [grpc], { path: "/snowlane.v1.IdService/Parse" }],
  ["a query", [grpc], { path: `${pathOf(method)}?x=1` }],
  ["a GET", [grpc], { method: "GET" }],
  ["no content type", []],
  ["two content types", [grpc, grpc]],
  ["another codec", [["content-type", "application/grpc+yaml"]]],
  ["another protocol", [["content-type", "application/grpc-web-text"]]],
  ["parameters of the content type", [["content-type", "application/grpc; charset=utf-8"]]],
  ["upper case", [["content-type", "Application/gRPC"]]],
  ["compression", [grpc, ["grpc-encoding", "gzip"]]],
  ["two timeouts", [grpc, ["grpc-timeout", "1S"], ["grpc-timeout", "1S"]]],
])("%s goes the way of all others", (_name, fields, pseudo) => {
  expect(route(fields, pseudo)).toBeUndefined();
});

test("a timeout is read", () => {
  expect(route([grpc, ["grpc-timeout", "3S"]])?.timeoutMs).toBe(3_000);
});

test("a timeout that no timer can count is left out", () => {
  expect(route([grpc, ["grpc-timeout", "99999999H"]])).toMatchObject({ timeoutMs: undefined });
});

test("a malformed timeout is refused on the general way", () => {
  expect(route([grpc, ["grpc-timeout", "1s"]])).toBeUndefined();
});
