import { expect, test } from "vitest";
import { readRequestTarget, withoutAuthority } from "./request-target.ts";

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
  expect(readRequestTarget(authority, "/a")?.url).toBe(url);
});

test.each([
  ["/a/b", "/a/b"],
  ["/a?b/../c", "/a"],
  ["/a/../b", "/a/../b"],
  ["/a/%2e%2e/b", "/a/%2e%2e/b"],
  ["/a\\..\\b", "/a\\..\\b"],
  ["//a/b", "//a/b"],
])("the path of %j is %j: nothing is normalised", (pathAndQuery, path) => {
  expect(readRequestTarget("x", pathAndQuery)?.path).toBe(path);
});

test.each([
  ["http://x:80/a/../b?c", "/a/../b?c"],
  ["HTTPS://x", "/"],
  ["http://x?c", "/?c"],
  ["http://x//a", "//a"],
  ["/http://x/a", "/http://x/a"],
  ["*", "*"],
])("the target %j is %j without scheme and authority", (target, path) => {
  expect(withoutAuthority(target)).toBe(path);
});
