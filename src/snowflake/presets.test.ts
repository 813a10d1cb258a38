import { expect, test } from "vitest";
import { layouts, presetLayout, presetNames } from "./presets.ts";

const iso = (unixMs: number): string => new Date(unixMs).toISOString();

test.each([
  [
    "twitter",
    "41 timestamp, 5 datacenter, 5 worker, 12 sequence",
    "2010-11-04T01:42:54.657Z",
    "2080-07-10T17:30:30.209Z",
    1n,
  ],
  [
    "discord",
    "41 timestamp, 5 datacenter, 5 worker, 12 sequence",
    "2015-01-01T00:00:00.000Z",
    "2084-09-06T15:47:35.552Z",
    1n,
  ],
  ["instagram", "40 timestamp, 13 worker, 10 sequence", "2011-08-24T21:07:01.721Z", "2046-06-27T17:00:49.497Z", 1n],
  ["sonyflake", "39 timestamp, 8 sequence, 16 worker", "2014-09-01T00:00:00.000Z", "2188-11-16T03:28:58.880Z", 65_536n],
  ["baidu", "28 timestamp, 22 worker, 13 sequence", "2016-05-19T16:00:00.000Z", "2024-11-20T13:24:16.000Z", 1n],
  ["javascript", "41 timestamp, 6 worker, 6 sequence", "2026-01-01T00:00:00.000Z", "2095-09-07T15:47:35.552Z", 1n],
  ["leaf", "41 timestamp, 10 worker, 12 sequence", "2010-11-04T01:42:54.657Z", "2080-07-10T17:30:30.209Z", 1n],
  ["cosid", "41 timestamp, 10 worker, 12 sequence", "2019-12-24T16:00:00.000Z", "2089-08-30T07:47:35.552Z", 1n],
  ["tsid", "41 timestamp, 10 worker, 12 sequence", "2020-01-01T00:00:00.000Z", "2089-09-06T15:47:35.552Z", 1n],
  ["clickhouse", "41 timestamp, 10 worker, 12 sequence", "1970-01-01T00:00:00.000Z", "2039-09-07T15:47:35.552Z", 1n],
  ["pgedge", "41 timestamp, 10 worker, 12 sequence", "2023-01-01T00:00:00.000Z", "2092-09-06T15:47:35.552Z", 1n],
  [
    "pgedge-2.3",
    "41 timestamp, 12 sequence, 10 worker",
    "2023-01-01T00:00:00.000Z",
    "2092-09-06T15:47:35.552Z",
    1_024n,
  ],
  ["hazelcast", "41 timestamp, 6 sequence, 16 worker", "2018-01-01T00:00:00.000Z", "2087-09-07T15:47:35.552Z", 65_536n],
  ["yitter", "51 timestamp, 6 worker, 6 sequence", "2020-02-19T18:20:02.000Z", "+010000-01-01T00:00:00.000Z", 1n],
  ["mastodon", "47 timestamp, 16 sequence", "1970-01-01T00:00:00.000Z", "6429-10-17T02:45:55.328Z", 1n],
])("%s is %s from %s to %s", (name, fields, begin, end, stride) => {
  const layout = presetLayout(name);
  expect(layout.name).toBe(name);
  expect(layout.fields.map(({ kind, bits }) => `${bits} ${kind}`).join(", ")).toBe(fields);
  expect(iso(layout.epochMs)).toBe(begin);
  expect(iso(layout.endMs)).toBe(end);
  expect(layout.stride).toBe(stride);
});

test("the default comes first, and each name has its layout", () => {
  expect(presetNames[0]).toBe("twitter");
  expect(Object.keys(layouts)).toEqual([...presetNames]);
});

test("no ID of the javascript layout is above what a JSON number holds", () => {
  expect(layouts.javascript.bits).toBe(53);
});

test("a preset can be had with another epoch, and keeps its name", () => {
  const layout = presetLayout("baidu", Date.UTC(2026, 0, 1));
  expect(layout.name).toBe("baidu");
  expect(layout.fields).toEqual(layouts.baidu.fields);
  expect(iso(layout.endMs)).toBe("2034-07-04T21:24:16.000Z");
  expect(presetLayout("twitter", 1_288_834_974_657)).toBe(layouts.twitter);
});

test.each(["", "Twitter", "custom", "__proto__", "toString"])("%j is not a preset", (name) => {
  expect(() => presetLayout(name)).toThrow(expect.objectContaining({ reason: "INVALID_LAYOUT" }));
});

test("an epoch out of range is refused", () => {
  expect(() => presetLayout("twitter", 0.5)).toThrow(expect.objectContaining({ reason: "INVALID_LAYOUT" }));
});
