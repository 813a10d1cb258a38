import { expect, test } from "vitest";
import { layouts } from "../../src/snowflake/presets.ts";
import { withLink } from "../../web/src/generate-link.ts";
import { readRoute, writeGenerateLink, writeLearnLink } from "../../web/src/route.ts";
import { firstState, type GenerateState } from "../../web/src/state.ts";

/** What the address says of Generate and Learn, so that a reload and a bookmark show it again. */

const beginning = { nowMs: 0, theme: "auto", language: "en", wantsTraditional: false, hasServer: true } as const;
const first = firstState(beginning).generate;
const readBack = (generate: GenerateState): GenerateState => {
  const { generate: link, link: state } = readRoute(writeGenerateLink(generate, undefined));
  expect(state).toBe("fine");
  return withLink(first, link!);
};

test("what Generate begins with leaves its address short", () => {
  expect(writeGenerateLink(first, undefined)).toBe("#/generate");
  expect(writeLearnLink(undefined)).toBe("#/learn");
});

test("PAGE 13: every control of Generate is read back from its address, whatever is typed", () => {
  const typed = `"><b>%&=#\n3`;
  const format = {
    form: "typed",
    serialPrefix: typed,
    utcOffset: "+03:00",
    checkSymbol: true,
    typePrefix: typed,
  } as const;
  const hand = { time: typed, datacenterId: "3", workerId: "31", sequence: typed, count: "7" };
  const byHand: GenerateState = { ...first, source: "hand", format, hand };
  expect(readBack(byHand)).toEqual(byHand);
  const ofServer: GenerateState = { ...first, count: "1,000", format };
  expect(readBack(ofServer)).toEqual(ofServer);
});

test("PAGE 13: a layout of Learn, and of an ID by hand, is read back", () => {
  expect(readRoute(writeLearnLink(layouts.sonyflake)).layout?.name).toBe("sonyflake");
  const { layout } = readRoute(writeGenerateLink({ ...first, source: "hand" }, { ...layouts.twitter, epochMs: 5 }));
  expect([layout?.name, layout?.epochMs]).toEqual(["twitter", "5"]);
});

test("a form or a source that there is not makes a broken link", () => {
  for (const query of ["form=nonsense", "from=nowhere"]) expect(readRoute(`#/generate?${query}`).link).toBe("broken");
});
