import { expect, test } from "vitest";
import { OriginList } from "./origin-list.ts";

const list = new OriginList([
  "https://app.example.com",
  "https://*.preview.example.com",
  "http://pr-*.example.org:5173",
]);

test.each([
  "https://app.example.com",
  "https://pr-12.preview.example.com",
  "https://a.preview.example.com",
  "http://pr-7.example.org:5173",
])("a page of %s may call", (origin) => {
  expect(list.has(origin)).toBe(true);
});

test.each([
  "",
  "null",
  "https://example.com",
  "http://app.example.com",
  "https://preview.example.com",
  "https://.preview.example.com",
  "https://a.b.preview.example.com",
  "https://a.previewxexample.com",
  "https://evil.example/.preview.example.com",
  "https://a.preview.example.com.evil.example",
  "https://a.preview.example.com:444",
  "https://a.preview.example.com\n",
  "http://pr-.example.org:5173",
  "http://pr-7.example.org",
  "http://xpr-7.example.org:5173",
])("a page of %j may not call", (origin) => {
  expect(list.has(origin)).toBe(false);
});

test("a list of nothing is empty, and one of patterns is not", () => {
  expect(new OriginList([]).isEmpty).toBe(true);
  expect(new OriginList(["https://*.preview.example.com"]).isEmpty).toBe(false);
});
