import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { textFaults } from "../../src/text/malformed-text.ts";
import { vectorFiles } from "../../tools/generate-vectors.ts";
import { expectVectorsFound, loadVectors } from "./load-vectors.ts";
import { findVectors } from "./vector-reader.ts";

const files = loadVectors();

test("the generated files are what the generator writes", () => {
  for (const [name, text] of vectorFiles()) {
    expect(readFileSync(new URL(name, import.meta.url), "utf8"), `${name}: npm run generate`).toBe(text);
  }
});

test("there are at least 200 vectors", () => {
  expect(files.ids.vectors.length).toBeGreaterThanOrEqual(200);
  expect(files.refused.vectors.length).toBeGreaterThanOrEqual(100);
});

test("every vector is found as it is written: IDs, texts, refusals with their positions, UUIDs, public IDs", () => {
  expectVectorsFound(findVectors(files));
});

test("published-texts.json has numbers that others wrote down, filled up to our width", () => {
  for (const { text, published } of files["published-texts"].vectors) {
    expect(text.endsWith(published.replace(/^1+/, ""))).toBe(true);
  }
});

test("refused.json has each fault that a text can have", () => {
  const reasons = new Set(files.refused.vectors.flatMap(({ metadata }) => metadata?.reason ?? []));
  expect([...reasons].toSorted()).toEqual(textFaults.toSorted());
});

// Other programs computed the values below. They are written by hand, so that a fault of our code cannot write itself
// into the generated files.

test("public-ids.json has the values that other programs computed", () => {
  const { vectors, sipHash } = files["public-ids"];
  const values = vectors.filter(({ bits }) => bits === 63).map(({ id, publicId }) => `${id} ${publicId}`);
  expect(values).toEqual(
    expect.arrayContaining([
      "0 604316123935828654",
      "1541815603606036480 5709126820134443914",
      "9223372036854775807 8883255967016224327",
      "0 8824806111621904672",
      "1900000000000000005 2272457387093247233",
      "9223372036854775807 2176503757173269861",
      "1 7292172809285070023",
      "1541815603606036522 1256409343093161972",
    ]),
  );
  const whole = vectors.filter(({ bits }) => bits === 4).map(({ publicId }) => publicId);
  expect(whole.join(" ")).toBe("5 1 2 9 0 11 12 3 15 13 7 4 10 6 14 8");
  expect(sipHash!.map(({ message, hash }) => `${message} ${hash}`)).toEqual(
    expect.arrayContaining([
      "0001020304 18765564cd99a68d",
      "000102030405060708090a0b0c0d0e a129ca6149be45e5",
      "0000000000 ca80e8425c148fa0",
      "7856341201 d96efba31b2a8ab3",
    ]),
  );
});

test.each([
  ["leaf", "1899999999995957255"],
  ["cosid", "690495998966910983"],
  ["tsid", "687838487952510983"],
  ["clickhouse", "7305765689539710983"],
  ["pgedge", "290661387254910983"],
  ["pgedge-2.3", "290661387254897669"],
  ["hazelcast", "952381629840949253"],
  ["yitter", "654106103599431"],
  ["mastodon", "114152588899057671"],
])("ids.json: %s, worker 5, sequence 7, at 1741830274949 is %s", (layout, id) => {
  const workerId = layout === "mastodon" ? 0 : 5;
  const createTime = { seconds: 1_741_830_274, nanos: 949_000_000 };
  expect(files.ids.vectors).toContainEqual(expect.objectContaining({ layout, id, workerId, sequence: 7, createTime }));
});

test.each([
  ["order_5QoSRAifXhW", "1900000000000000005"],
  ["a_11111111111", "0"],
  ["user2_NQm6nKp8qFC", "9223372036854775807"],
  // The public ID of 0 under the first key.
  ["order_2QMtrqVs35o", "604316123935828654"],
])("detection.json: %s is %s", (text, id) => {
  expect(files.detection.vectors).toContainEqual(expect.objectContaining({ text, id }));
});

test.each([
  ["Order_5QoSRAifXhW", "prefix", "0"],
  ["_5QoSRAifXhW", "prefix", "0"],
  ["or_der_5QoSRAifXhW", "character", "6"],
  ["order_0QoSRAifXhW", "character", "6"],
  ["order_5QoSRAifXh", "too_short", "16"],
  ["order_5QoSRAifXhWx", "too_long", "17"],
  ["order_NQm6nKp8qFD", "out_of_range", "6"],
  ["user_5QoSRAifXhW", "prefix", "0", "order"],
])("refused.json: %s is refused, %s %s", (text, reason, position, typePrefix?: string) => {
  const metadata = { form: "typed", reason, position };
  const refusals = files.refused.vectors.filter((vector) => vector.text === text);
  expect(refusals).toContainEqual(expect.objectContaining({ error: "MALFORMED_TEXT", metadata }));
  expect(refusals.some((vector) => vector.typePrefix === typePrefix)).toBe(true);
});
