import { expect, test } from "vitest";
import type { HotMethod } from "../hot-methods.ts";
import { Field } from "../http2/field.ts";
import { createRequestHead } from "../http2/request-head.ts";
import { type HotRoute, readHotRoute } from "./hot-route.ts";

const method: HotMethod = { path: "/a.B/C", read: () => undefined };
const methods = new Map([[method.path, method]]);

type Pairs = readonly (readonly [name: string, value: string])[];

function route(more: Pairs, pseudo: Readonly<Record<string, string>> = {}): HotRoute | undefined {
  const fields: Pairs = [
    [":method", pseudo["method"] ?? "POST"],
    [":scheme", "http"],
    [":path", pseudo["path"] ?? method.path],
    [":authority", "localhost"],
    ...more,
  ];
  return readHotRoute(createRequestHead(fields.map(([name, value]) => new Field(name, value)))!, methods);
}

const grpc = ["content-type", "application/grpc"] as const;

test("plain gRPC is taken, and answered with the content type that was asked with", () => {
  for (const type of ["application/grpc", "application/grpc+proto"]) {
    expect(route([["content-type", type]])).toMatchObject({ method, contentType: type, timeoutMs: undefined });
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
  ["another method", [grpc], { path: "/a.B/D" }],
  ["a query", [grpc], { path: "/a.B/C?x=1" }],
  ["a GET", [grpc], { method: "GET" }],
  ["no content type", []],
  ["two content types", [grpc, grpc]],
  ["another codec", [["content-type", "application/grpc+json"]]],
  ["another protocol", [["content-type", "application/grpc-web"]]],
  ["parameters of the content type", [["content-type", "application/grpc; charset=utf-8"]]],
  ["upper case", [["content-type", "Application/gRPC"]]],
  ["compression", [grpc, ["grpc-encoding", "gzip"]]],
  ["two timeouts", [grpc, ["grpc-timeout", "1S"], ["grpc-timeout", "1S"]]],
])("%s goes the way of all others", (_name, fields, pseudo) => {
  expect(route(fields, pseudo)).toBeUndefined();
});

test.each([
  ["1H", 3_600_000],
  ["2M", 120_000],
  ["3S", 3_000],
  ["4m", 4],
  ["5u", 0.005],
  ["6n", 0.000006],
  ["0S", 0],
  ["99999999m", 99_999_999],
])("a timeout of %s is %d ms", (text, ms) => {
  expect(route([grpc, ["grpc-timeout", text]])?.timeoutMs).toBeCloseTo(ms, 9);
});

test("a timeout that no timer can count is none", () => {
  expect(route([grpc, ["grpc-timeout", "99999999H"]])).toMatchObject({ timeoutMs: undefined });
});

test.each(["", "1", "S", "1s", "-1S", "1.5S", "123456789S", "0x1S"])(
  "a timeout of '%s' is for others to refuse",
  (text) => {
    expect(route([grpc, ["grpc-timeout", text]])).toBeUndefined();
  },
);
