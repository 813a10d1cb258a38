import { expect, test } from "vitest";
import { equalIdentity, identityOf, joinIdentities, namesPart, sameIdentity } from "./store-identity.ts";

const whole = identityOf({ system: "7", timeline: "1", database: "16384" });

test("an identity is its named parts in one string, without those that could not be read", () => {
  expect(whole).toBe("system=7 timeline=1 database=16384");
  expect(identityOf({ system: undefined, timeline: "1" })).toBe("timeline=1");
  expect(namesPart(whole, "timeline")).toBe(true);
  expect(namesPart(whole, "table")).toBe(false);
});

test("a value with a blank, an empty one, no part at all, and more than 200 characters are a fault of the store", () => {
  const faulty = [{ system: "7 8" }, { system: "" }, { system: undefined }, { system: "7".repeat(194) }];
  for (const parts of faulty) expect(() => identityOf(parts)).toThrow("an identity of another form");
  expect(identityOf({ system: "7".repeat(193) })).toHaveLength(200);
});

test("two identities are one if all parts that both name are equal, and there is such a part", () => {
  expect(sameIdentity(whole, "database=16384 system=7")).toBe(true);
  expect(sameIdentity(whole, "system=7 timeline=2")).toBe(false);
  expect(sameIdentity(whole, "run=5")).toBe(false);
  expect(sameIdentity("made-before-there-were-names", whole)).toBe(false);
});

test("for a resumed grant they are one only if neither names a part that the other does not", () => {
  expect(equalIdentity(whole, "database=16384 timeline=1 system=7")).toBe(true);
  expect(equalIdentity(whole, "system=7 timeline=1")).toBe(false);
  expect(equalIdentity("system=7 timeline=1", whole)).toBe(false);
  expect(equalIdentity("system=7 table=1", "system=7 timeline=1")).toBe(false);
});

test("parts are added, never replaced, as far as there is room for them", () => {
  expect(joinIdentities("system=7", "timeline=1 system=8")).toBe("system=7 timeline=1");
  expect(joinIdentities(whole, "system=7")).toBe(whole);
  const long = identityOf({ system: "7".repeat(190) });
  expect(joinIdentities(long, "timeline=1")).toBe(long);
});
