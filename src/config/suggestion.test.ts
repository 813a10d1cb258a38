import { expect, test } from "vitest";
import { nearest, suggestion } from "./suggestion.ts";

test("a name with a typing error or two is known again, and one of three letters with one", () => {
  const known = ["listen", "ttl", "to", "datacenter-id"];
  expect(nearest("lisetn", known)).toBe("listen");
  expect(nearest("datacentre-id", known)).toBe("datacenter-id");
  expect(nearest("tll", known)).toBe("ttl");
  // Two of the three letters of the first differ, and the only letter of the second.
  expect([nearest("url", known), nearest("x", known), nearest("", known)]).toEqual([undefined, undefined, undefined]);
  expect(suggestion("lisetn", known, "--")).toBe(" Did you mean --listen?");
  expect(suggestion("nothing", known, "--")).toBe("");
});
