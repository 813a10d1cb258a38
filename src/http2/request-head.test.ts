import { expect, test } from "vitest";
import { requestFields } from "../../test/support/http2/http2-wire.ts";
import { Field } from "./hpack/field.ts";
import { createRequestHead, isTrailerSection } from "./request-head.ts";

function head(...more: readonly (readonly [string, string])[]): ReturnType<typeof createRequestHead> {
  return createRequestHead([...requestFields, ...more].map(([name, value]) => new Field(name, value)));
}

function asterisk(method: string): ReturnType<typeof createRequestHead> {
  return createRequestHead([new Field(":method", method), new Field(":scheme", "http"), new Field(":path", "*")]);
}

test("a head has its pseudo fields apart and the others in order", () => {
  const made = head(["b", "1"], ["a", "2"], ["content-length", "5"])!;
  expect(made).toMatchObject({
    method: "POST",
    scheme: "http",
    path: "/a",
    authority: "example.com",
    contentLength: 5,
  });
  expect(made.fields.map(({ name }) => name)).toEqual(["b", "a", "content-length"]);
});

test("fields of one name are joined by a comma, those of cookies by a semicolon", () => {
  const made = head(["a", "1"], ["cookie", "b=1"], ["a", "2"], ["cookie", "c=2"])!;
  expect(made.get("a")).toBe("1, 2");
  expect(made.get("cookie")).toBe("b=1; c=2");
  expect(made.get("d")).toBeUndefined();
});

test("host stands in for an authority that is not there, and must agree with one that is", () => {
  const without = requestFields.slice(0, 3).map(([name, value]) => new Field(name, value));
  expect(createRequestHead([...without, new Field("host", "a.example")])?.authority).toBe("a.example");
  expect(createRequestHead(without)?.authority).toBe("");
  expect(head(["host", "EXAMPLE.com"])?.authority).toBe("example.com");
  expect(head(["host", "other.example"])).toBeUndefined();
});

test("the same content-length twice is one", () => {
  expect(head(["content-length", "5"], ["content-length", "5"])?.contentLength).toBe(5);
  expect(head(["content-length", "5"], ["content-length", "6"])).toBeUndefined();
});

test("an asterisk is a path for OPTIONS alone", () => {
  expect(asterisk("OPTIONS")?.path).toBe("*");
  expect(asterisk("GET")).toBeUndefined();
});

test("trailers carry neither pseudo fields nor what frames a message", () => {
  expect(isTrailerSection([new Field("a", "b")])).toBe(true);
  for (const [name, value] of [
    [":path", "/"],
    ["content-length", "1"],
    ["host", "a"],
    ["connection", "close"],
  ] as const) {
    expect(isTrailerSection([new Field(name, value)])).toBe(false);
  }
});
