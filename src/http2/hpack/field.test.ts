import { expect, test } from "vitest";
import { Field, isSendable, type FieldKind } from "./field.ts";

const verdicts: readonly (readonly [name: string, value: string, kind: FieldKind])[] = [
  [":method", "POST", "method"],
  [":method", "", "malformed"],
  [":method", "GET /", "malformed"],
  [":scheme", "https", "scheme"],
  [":scheme", "1http", "malformed"],
  [":path", "/a/b?c", "path"],
  [":path", "*", "path"],
  [":path", "", "malformed"],
  [":path", "a", "malformed"],
  [":path", "/a b", "malformed"],
  [":path", "/a#b", "malformed"],
  [":authority", "example.com:443", "authority"],
  [":authority", "[::1]:80", "authority"],
  [":authority", "user@example.com", "malformed"],
  [":authority", "a/b", "malformed"],
  [":status", "200", "malformed"],
  [":protocol", "websocket", "malformed"],
  ["host", "example.com", "host"],
  ["content-length", "12", "contentLength"],
  ["content-length", "+12", "malformed"],
  ["content-length", "", "malformed"],
  ["content-length", "9".repeat(16), "malformed"],
  ["connection", "close", "malformed"],
  ["transfer-encoding", "chunked", "malformed"],
  ["te", "trailers", "regular"],
  ["te", "gzip", "malformed"],
  ["x", "", "regular"],
  ["x", "caf\u00e9", "regular"],
  ["x", "a\tb", "regular"],
  ["x", " a", "malformed"],
  ["x", "a\t", "malformed"],
  ["x", "a\0b", "malformed"],
  ["x", "a\r\nb: c", "malformed"],
  ["X", "a", "malformed"],
  ["", "a", "malformed"],
  ["x y", "a", "malformed"],
  ["x:", "a", "malformed"],
  ["caf\u00e9", "a", "malformed"],
];

test.each(verdicts)("%j: %j is %s", (name, value, kind) => {
  expect(new Field(name, value).kind).toBe(kind);
});

test("a field weighs its bytes and 32 more", () => {
  expect(new Field("ab", "cde").sizeBytes).toBe(37);
});

test("only lower-case names and values of single bytes can be sent", () => {
  expect(isSendable(":status", "200")).toBe(true);
  expect(isSendable("grpc-message", "caf\u00e9")).toBe(true);
  expect(isSendable("grpc-message", "\u4e2d")).toBe(false);
  expect(isSendable("grpc-message", "a\nb")).toBe(false);
  expect(isSendable("Grpc-Message", "a")).toBe(false);
  expect(isSendable(":path", "/")).toBe(false);
});
