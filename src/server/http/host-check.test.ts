import { describe, expect, test } from "vitest";
import { HostCheck } from "./host-check.ts";

describe("where all requests are checked", () => {
  const check = new HostCheck({ requests: "all", names: ["ids.example"], origins: [] });
  const reasonOf = (host: string | undefined, url = "/") => check.refusalOf({ url, headers: { host } })?.reason;

  test.each([
    "localhost",
    "LocalHost:7609",
    "localhost.:1",
    "127.0.0.1",
    "127.0.0.1:65535",
    "10.1.2.3:80",
    "[::1]",
    "[::1]:7609",
    "[2001:db8::7]:1",
    "[::ffff:127.0.0.1]",
    "ids.example",
    "IDS.Example.:443",
    "ids.example:",
    "",
    undefined,
  ])("%s is allowed", (host) => {
    for (const before of ["", "localhost", "evil.test"]) {
      reasonOf(before);
      expect(reasonOf(host)).toBeUndefined();
    }
  });

  test.each([
    "evil.test",
    "evil.test:7609",
    "localhost.evil.test",
    "127.0.0.1.evil.test",
    "ids.example.evil.test",
    "x.ids.example",
    "evil.test@localhost",
    "localhost@evil.test",
    "localhost:80@evil.test",
    "localhost/evil.test",
    "localhost, evil.test",
    "localhost..",
    ".",
    "2130706433",
    "0x7f.1",
    "127.1",
    "[evil.test]",
    "[::1",
    "::1",
    "[::1]x",
    "b\u00fccher.test",
    " ",
  ])("%s is not", (host) => {
    for (const before of ["", "localhost"]) {
      reasonOf(before);
      expect(reasonOf(host)).toBe("HOST_NOT_ALLOWED");
    }
  });

  test("the target of a request in absolute form counts, and Host does not", () => {
    expect(reasonOf("localhost", "http://evil.test:7609/x")).toBe("HOST_NOT_ALLOWED");
    expect(reasonOf("evil.test", "http://127.0.0.1:7609/x")).toBeUndefined();
    expect(reasonOf("localhost", "HTTPS://u@localhost/")).toBe("HOST_NOT_ALLOWED");
    expect(reasonOf("evil.test", "*")).toBe("HOST_NOT_ALLOWED");
  });

  test("an error shows no more of the name than a host can be long", () => {
    const refusal = check.refusalOf({ url: "/", headers: { host: "e".repeat(10_000) } });
    expect(refusal?.metadata["host"]).toHaveLength(253);
    expect(refusal?.message.length).toBeLessThan(600);
  });
});

describe("where the requests of pages are checked", () => {
  const check = new HostCheck({ requests: "of pages", names: [], origins: ["https://app.example"] });
  const reasonOf = (origin: string | undefined) =>
    check.refusalOf({ url: "/", headers: { host: "evil.test", origin } })?.reason;

  test.each([
    undefined,
    "https://app.example",
    "http://10.1.2.3:7609",
    "http://[2001:db8::7]",
    "http://localhost:5173",
  ])("a request from %s is allowed", (origin) => expect(reasonOf(origin)).toBeUndefined());

  test.each([
    "http://evil.test:7609",
    "http://app.example",
    "https://app.example.",
    "null",
    "",
    "file://",
    "chrome-extension://abc",
  ])("one from %s is not", (origin) => expect(reasonOf(origin)).toBe("HOST_NOT_ALLOWED"));
});
