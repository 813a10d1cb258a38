import { expect, test } from "vitest";
import { requestUrl } from "./request-url.ts";

test.each([
  ["", "http://localhost/a"],
  ["example.org:7609", "http://example.org:7609/a"],
  ["127.0.0.1:7609", "http://127.0.0.1:7609/a"],
  ["[::1]:7609", "http://[::1]:7609/a"],
  ["::1:7609", "http://[::1]:7609/a"],
  ["fe80::1:2:7609", "http://[fe80::1:2]:7609/a"],
  ["::", "http://[::]/a"],
  ["a:b:c", undefined],
  ["host:port", undefined],
])("the authority %j gives %j", (authority, url) => {
  expect(requestUrl(authority, "/a")).toBe(url);
});
