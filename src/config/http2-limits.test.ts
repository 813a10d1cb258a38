import { expect, test } from "vitest";
import { limitTable } from "../http2/limits.ts";
import { http2Limits } from "./http2-limits.ts";
import { SettingError } from "./setting.ts";

const setting = http2Limits({ name: "http2Limits", doc: "" });

test("limits are read by name, and written as they are read", () => {
  const limits = setting.parse("idleTimeoutMs=60000, pingsPerSecond=100,ageMaxMs=off");
  expect(limits).toEqual({ idleTimeoutMs: 60_000, pingsPerSecond: 100, ageMaxMs: Infinity });
  expect(setting.format(limits)).toBe("idleTimeoutMs=60000,pingsPerSecond=100,ageMaxMs=off");
  expect(setting.parse(setting.format(limits))).toEqual(limits);
});

test("none is the defaults", () => {
  expect(setting.parse("none")).toEqual({});
  expect(setting.format({})).toBe("none");
});

test.each([
  ["", "NAME=NUMBER"],
  ["idleTimeoutMs", "NAME=NUMBER"],
  ["idleTimeoutMs=", "NAME=NUMBER"],
  ["idleTimeoutMs=-1", "NAME=NUMBER"],
  ["idleTimeoutMs=1.5", "NAME=NUMBER"],
  ["idleTimeoutMs=1e3", "NAME=NUMBER"],
  ["noSuchLimit=1", "NAME=NUMBER"],
  ["__proto__=1", "NAME=NUMBER"],
  ["pingsPerSecond=1,", "NAME=NUMBER"],
  ["idleTimeoutMs=0", "idleTimeoutMs is 0"],
  ["framePayloadBytesMax=1", "framePayloadBytesMax is 1"],
  ["pingsPerSecond=off", "pingsPerSecond is Infinity"],
])("%s is refused", (text, hint) => {
  const read = (): unknown => setting.parse(text);
  expect(read).toThrow(SettingError);
  expect(read).toThrow(hint);
});

test("a limit that has a setting of its own is refused with its name", () => {
  expect(() => setting.parse("stallTimeoutMs=5")).toThrow("--stall-timeout");
  expect(() => setting.parse("stallTimeoutMs=5")).toThrow("--stall-timeout");
  expect(() => setting.parse("drainTimeoutMs=5")).toThrow("--drain-timeout");
});

test("every other limit can be set to its default", () => {
  const givenElsewhere = new Set(["concurrentStreamsMax", "stallTimeoutMs", "drainTimeoutMs"]);
  for (const [name, { default: value }] of Object.entries(limitTable)) {
    if (givenElsewhere.has(name)) continue;
    expect(setting.parse(`${name}=${value === Infinity ? "off" : value}`)).toEqual({ [name]: value });
  }
});
