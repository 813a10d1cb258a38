import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { IdError } from "../errors.ts";
import { address, isLoopback } from "./address.ts";
import { readConfigFile } from "./config-file.ts";
import { loadSettings, refuseProblems } from "./load-settings.ts";
import { serverSettings } from "./server-settings.ts";
import { environmentName, flagName, type Setting } from "./setting.ts";
import { layoutSettings } from "./layout-settings.ts";
import { duration, moment, tick } from "./setting-kinds.ts";
import { redactUrl } from "./store-url.ts";

function load(sources: Partial<Parameters<typeof loadSettings>[1]>) {
  return loadSettings(serverSettings, { flags: {}, environment: {}, ...sources });
}

function fileWith(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-config-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "snowlane.json");
  writeFileSync(path, content);
  return path;
}

test("a flag wins over the environment, the environment over the file, the file over the default", () => {
  const file = { path: "f", texts: { drainTimeout: "1s", stallTimeout: "2s", waitMax: "3s" } };
  const environment = { SNOWLANE_DRAIN_TIMEOUT: "4s", SNOWLANE_STALL_TIMEOUT: "5s" };
  const { values, places } = load({ file, environment, flags: { drainTimeout: "6s" } });
  expect(values).toMatchObject({
    drainTimeoutMs: 6_000,
    stallTimeoutMs: 5_000,
    waitMaxMs: 3_000,
    connectionsMax: 10_000,
  });
  expect(places).toMatchObject({
    drainTimeoutMs: "--drain-timeout",
    stallTimeoutMs: "SNOWLANE_STALL_TIMEOUT",
    waitMaxMs: "waitMax in f",
    connectionsMax: "default",
  });
});

test("all that is wrong is reported together, each with its place, value and hint", () => {
  const flags = { listen: "nowhere", logLevel: "loud", drainTimeout: "10" };
  const { problems } = load({ flags, environment: { SNOWLANE_CONNECTIONS_MAX: "-1" } });
  expect(problems.map(({ place }) => place)).toEqual([
    "--listen",
    "SNOWLANE_CONNECTIONS_MAX",
    "--drain-timeout",
    "--log-level",
  ]);
  expect(() => refuseProblems(problems)).toThrow(
    /--listen is "nowhere"\. Give HOST:PORT.*\n.*\n.*\n--log-level is "loud"/,
  );
});

test("an empty variable counts as not set", () => {
  expect(load({ environment: { SNOWLANE_LOG_LEVEL: "" } }).values.logLevel).toBe("info");
});

test("a file with unknown keys, or values that are not texts, is refused with a suggestion", () => {
  const { problems, file } = readConfigFile(
    fileWith('{"listn": "x", "store": {}, "connectionsMax": 5}'),
    serverSettings,
  );
  expect(problems.map(({ hint }) => hint)).toEqual([
    "There is no such setting. Did you mean listen?",
    "a string, a number, true or false",
  ]);
  expect(file?.texts).toEqual({ connectionsMax: "5" });
});

test.each(["", "[]", "null", "{"])("a file that holds %j is refused", (content) => {
  expect(readConfigFile(fileWith(content), serverSettings).problems).toHaveLength(1);
});

test("a file that is not there is refused", () => {
  expect(readConfigFile("/nowhere/snowlane.json", serverSettings).problems).toHaveLength(1);
});

test("a default is a value of its setting, and every name is written as it should be", () => {
  for (const setting of Object.values<Setting<unknown>>(serverSettings)) {
    expect(flagName(setting)).toMatch(/^[a-z][a-z0-9-]*$/);
    expect(environmentName(setting)).toMatch(/^SNOWLANE_[A-Z0-9_]+$/);
    expect(setting.doc).toMatch(/\.$/);
    if (setting.fallback !== undefined)
      expect(setting.parse(setting.format(setting.fallback))).toEqual(setting.fallback);
  }
});

test("a span has a unit, and is shown in the largest that fits", () => {
  const span = duration({ name: "x", doc: "X.", minMs: 0, maxMs: 3_600_000 });
  expect(["500ms", "10s", "2m", "1h", "0ms"].map((text) => span.parse(text))).toEqual([
    500, 10_000, 120_000, 3_600_000, 0,
  ]);
  expect([500, 90_000, 120_000].map((ms) => span.format(ms))).toEqual(["500ms", "90s", "2m"]);
  for (const text of ["", "10", "s", "1.5s", "-1s", "1 s", "2h", "1us", "999999999999999s"]) {
    expect(() => span.parse(text), text).toThrow(/a number with/);
  }
  expect(tick({ name: "x", doc: "X." }).parse("10us")).toBe(10_000);
});

test("a moment says its offset", () => {
  const setting = moment({ name: "x", doc: "X." });
  expect(setting.parse("2020-01-01")).toBe(Date.UTC(2020, 0, 1));
  expect(setting.parse("2020-01-01T08:00:00+08:00")).toBe(Date.UTC(2020, 0, 1));
  for (const text of ["2020-01-01T00:00:00", "yesterday", "1577836800000", "2020-13-01", "2020-01-01 00:00Z"]) {
    expect(() => setting.parse(text), text).toThrow(/offset/);
  }
});

test("an epoch is a moment, or Unix milliseconds, and no number that looks like seconds", () => {
  const { epochMs } = layoutSettings;
  expect(epochMs.parse("2020-01-01")).toBe(Date.UTC(2020, 0, 1));
  expect(epochMs.parse("1577836800000")).toBe(Date.UTC(2020, 0, 1));
  expect(epochMs.parse("100000000000")).toBe(1e11);
  expect(epochMs.parse(epochMs.format(1e11))).toBe(1e11);
  for (const text of ["0", "2020", "1577836800", "99999999999"]) {
    expect(() => epochMs.parse(text), text).toThrow(/looks like seconds/);
  }
  for (const text of ["", "-1", "1e12", "1577836800000.5", "+1577836800000", "0x1000000000000"]) {
    expect(() => epochMs.parse(text), text).toThrow(/offset/);
  }
});

test("an address is a host and a port", () => {
  const setting = address({ name: "x", doc: "X." });
  expect(setting.parse("[::1]:7609")).toEqual({ host: "::1", port: 7609 });
  expect(setting.format(setting.parse("[::1]:0"))).toBe("[::1]:0");
  expect(setting.parse("localhost:1")).toEqual({ host: "localhost", port: 1 });
  for (const text of ["", ":7609", "127.0.0.1", "127.0.0.1:65536", "::1:7609", "a b:1", "host:", "host:1x"]) {
    expect(() => setting.parse(text), text).toThrow(/HOST:PORT/);
  }
});

test.each([
  ["127.0.0.1", true],
  ["127.1.2.3", true],
  ["localhost", true],
  ["::1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["127.0.0.1.example.com", false],
  ["10.0.0.1", false],
])("%s is loopback: %s", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

test("no password of a store's URL is shown, however it is written", () => {
  for (const url of [
    "postgres://user:secret@host/db",
    "redis://:secret@host",
    "postgres://user:se/cret@x@host/db",
    "mysql://user@host/db?password=secret&ssl=secret",
    "redis://default:secret@[::1]:6379/0?x=secret",
  ]) {
    expect(redactUrl(url)).not.toMatch(/se\/?cret/);
    expect(redactUrl(url)).toMatch(/^[a-z]+:\/\//);
  }
  expect(redactUrl("sqlite:/a/b@c.db")).toBe("sqlite:/a/b@c.db");
  const { problems } = load({ flags: { store: "postgrse://user:secret@host" } });
  expect(() => refuseProblems(problems)).toThrow(IdError);
  expect(JSON.stringify(problems)).not.toContain("secret");
});
