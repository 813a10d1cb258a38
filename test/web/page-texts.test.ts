import { describe, expect, test } from "vitest";
import { errorReasons } from "../../src/errors.ts";
import { languageOf } from "../../web/src/language.ts";
import type { Happening } from "../../web/proof/outcome.ts";
import { switchedRules } from "../simulation/shown/rule-names.ts";
import { proofEn } from "../../web/proof/texts/proof-en.ts";
import { proofSw } from "../../web/proof/texts/proof-sw.ts";
import { proofZh } from "../../web/proof/texts/proof-zh.ts";
import { groupDigits } from "../../src/text/group-digits.ts";
import { en } from "../../web/src/texts/en.ts";
import { sw } from "../../web/src/texts/sw.ts";
import { zh } from "../../web/src/texts/zh.ts";
import { webWorld } from "../support/web/web-world.ts";

/** The page in other languages. The compiler sees to it that no text is missing. */

const world = webWorld();

/** The texts of a language by their paths; those that take values are called with the same ones everywhere. */
function textsIn(
  value: unknown,
  path: string,
): readonly (readonly [path: string, text: string, kind: "plain" | "called"])[] {
  if (typeof value === "string") return [[path, value, "plain"]];
  if (typeof value === "function")
    return path === "number" || path.endsWith("story.happened") ? [] : [[path, called(value, path), "called"]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => textsIn(part, path === "" ? key : `${path}.${key}`));
}

const span = { large: { count: 37, unit: "day" }, small: { count: 41, unit: "hour" } };
/** Values for the texts that take no plain numbers. */
const valuesOf: Readonly<Record<string, readonly unknown[]>> = {
  footer: ["V1"],
  "server.worker": [37, 41, true],
  "layout.since": ["NAME", "DAY"],
  "layout.ended": ["DAY"],
  "parse.unixTime": ["TIME"],
  "parse.ended": ["DAY"],
  "parse.holdsTime": ["TIME"],
  "parse.bestGuessBecause": ["REASON"],
  "parse.range.span": ["FROM", "TIME"],
  "parse.difference.span": [span, 37_041],
  "parse.difference.later": ["SPAN"],
  "parse.difference.earlier": ["SPAN"],
  "parse.list.peak": [37, "TIME"],
  "parse.list.from": ["TIME"],
  "parse.list.span": ["FROM", "TIME"],
  "parse.list.zoomTo": ["FROM", "TIME", 37],
  "parse.list.zoomed": ["FROM", "TIME"],
  "layout.problem": [{ kind: "sum", bits: 37 }],
  "parse.inFuture": [span],
  "parse.ago": [span],
  "parse.bitRange": ["NAME", 37, 41, "VALUE"],
  "parse.fault": ["character", 36, "FORM"],
  "parse.ambiguous": [["FORM", "OTHER"]],
  "parse.foreign.title": ["NAME"],
  "generate.failure": [{ reason: "METHOD_DENIED", message: "", permission: "PERMISSION" }],
  "generate.codeToken": ["NAME"],
  "generate.timeRead": ["s", "TIME"],
  "generate.partProblem": [{ kind: "range", min: 37, max: 41 }],
  "learn.time": ["TIME", "EPOCH"],
  "watch.notServing": ["REASON"],
  "watch.quarantine": ["TIME", "REASON"],
  "watch.workerOf": [37, 41, true],
  "watch.storeState": [true, 37_000, 41],
  "watch.started": [span],
  "watch.ago": [span],
  "watch.aboveScale": ["VALUE", "TIME"],
  "watch.errorCodes": ["CODES"],
  "watch.windowLeft": [37_000],
  "watch.measure": ["lead", 37],
  "watch.granted": [37, "TIME"],
  "proof.problems.failed": ["DETAIL"],
  "proof.lanes.equalIds": ["FIRST", 37],
  "proof.drop.one": ["kill", 37, 41_000],
  "proof.drop.remove": ["kill", 37, 41_000],
};
const ofField = new Set(["layout.bitsOf", "layout.up", "layout.down"]);

function called(make: Function, path: string): string {
  const values = valuesOf[path] ?? (ofField.has(path) ? ["worker"] : [37, 41, 43]);
  return String(make(...values));
}

/** The values that a text shows: what it was called with, sorted. */
const shown = (text: string): readonly string[] => (text.match(/\d+|\b[A-Z]{4,}\b/g) ?? []).toSorted();

/** All words of the page: those of Proof are a chunk of their own. */
const inEnglish = { ...en, proof: proofEn };

describe.each([
  ["Chinese", { ...zh, proof: proofZh }, 1.6],
  ["Swahili", { ...sw, proof: proofSw }, 2.2],
] as const)("%s", (_name, texts, lengthShareMax) => {
  const own = new Map(textsIn(texts, "").map(([path, text]) => [path, text]));

  test("every text is there, and shows the values that the English one shows", () => {
    const english = textsIn(inEnglish, "").filter(([path]) => path !== "locale" && path !== "language.note");
    expect(english.length).toBeGreaterThan(300);
    for (const [path, text, kind] of english) {
      const translated = own.get(path) ?? "";
      expect([path, translated === ""]).toEqual([path, text === ""]);
      // A plain text that explains something may write its numbers in words.
      const hasValues =
        kind === "called" || (/\b(37|41|43)\b/.test(text) && !/^(?:learn\.|parse\.uuid|proof\.words)/.test(path));
      if (hasValues) expect([path, shown(translated)]).toEqual([path, shown(text)]);
    }
    expect(texts.language.note).not.toBe("");
  });

  test("no text is much longer than the English one", () => {
    for (const [path, text] of textsIn(inEnglish, "")) {
      const most = Math.max(24, text.length * lengthShareMax);
      if (path !== "language.note")
        expect([path, (own.get(path) ?? "").length <= most, own.get(path)]).toEqual([path, true, own.get(path)]);
    }
  });
});

const at = { atMs: 41_000, slot: 2 };
const dropped = ["pause", "kill", "cut", "wipe", "older", "failover"] as const;
const ends = ["lost", "lapsed", "regressed"] as const;
const causes = ["mark", "quarantine", "silence", "free-worker-id"] as const;
const happenings: readonly Happening[] = [
  ...dropped.map((what): Happening => Object.assign({ kind: "fault" as const, what }, at)),
  ...ends.map((end): Happening => Object.assign({ kind: "grant-ended" as const, end }, at)),
  ...causes.map((cause): Happening => Object.assign({ kind: "waits" as const, cause }, at)),
  { kind: "clock", byMs: -1_200, ...at },
  { kind: "clock", byMs: 1_200, ...at },
  { kind: "started", ...at },
  { kind: "marks-lost", atMs: 0, workers: [1, 3] },
  { kind: "granted", worker: 3, ...at },
  { kind: "granted-below", worker: 3, fromMs: 4_000, markMs: 5_300, ...at },
  { kind: "quarantine", untilMs: 8_500, ...at },
  { kind: "equal", count: 17, firstAtMs: 3_900, ...at },
  { kind: "healed", atMs: 0 },
];

test("what happened in a run is said in every language, with the same values, whatever rule is away", () => {
  for (const rule of [undefined, ...switchedRules]) {
    for (const happening of happenings) {
      const english = proofEn.story.happened(happening, rule);
      for (const { story } of [proofZh, proofSw]) {
        const said = story.happened(happening, rule);
        expect([said === english, shown(said)], said).toEqual([false, shown(english)]);
      }
    }
  }
});

test("the first language that the page has is taken, and English otherwise", () => {
  expect(languageOf(["", "de-DE", "zh-TW", "en"])).toBe("zh");
  expect(languageOf(["fr", "sw-KE"])).toBe("sw");
  expect(languageOf(["en-US", "zh"])).toBe("en");
  expect(languageOf(["fr", "constructor"])).toBe("en");
});

test("the page speaks the reader's language, and the one that was chosen after a reload", async () => {
  const page = await world.open({ context: { locale: "zh-CN" } });
  await page.getByRole("button", { name: "生成", exact: true }).waitFor();
  expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN");
  await page.getByRole("button", { name: "Kiswahili" }).click();
  await page.getByRole("button", { name: "Zalisha", exact: true }).click();
  await page.getByRole("button", { name: "Ichambue" }).click();
  await page.getByText("ilizalishwa na nodi").waitFor();
  await page.reload();
  await page.getByRole("link", { name: "Chambua", exact: true }).waitFor();
  await page.getByRole("button", { name: "English" }).click();
  await page.getByRole("heading", { name: "Paste anything that holds IDs" }).waitFor();
});

test("digits are grouped as Intl groups them", () => {
  const intl = new Intl.NumberFormat("en");
  const whole = Array.from({ length: 20 }, (_, digits) => 10n ** BigInt(digits)).flatMap((power) => [
    power - 1n,
    power,
  ]);
  for (const value of [...whole, 2n ** 63n - 1n]) expect(groupDigits(value)).toBe(intl.format(value));
  for (const value of [0, -1, -1_000, 999.5, 1_000.25, 12_345.678_9, 0.000_4, 4_096_000]) {
    expect(groupDigits(value)).toBe(intl.format(value));
  }
});

/** All texts of a language, as one. */
const allOf = (texts: object): string =>
  textsIn(texts, "")
    .map(([, text]) => text)
    .join("\n");

test("PAGE 6: the promise of Generate and the limits of Learn name a store that may lose data", () => {
  for (const [texts, mayLose] of [
    [en, /may lose/],
    [zh, /可能丢失/],
    [sw, /inayoweza ku(?:ki)?poteza/],
  ] as const) {
    expect(texts.generate.promise).toMatch(mayLose);
    expect(allOf(texts.learn.limits)).toMatch(mayLose);
  }
  expect(allOf(inEnglish)).not.toMatch(/unique for ever|never causes a repeat/);
});

test("PAGE 20: no text has the words that developers stumbled over", () => {
  const foreign = /does not tell|for ever in|as it looks|Could it be another|If its clock is set back: advance/;
  expect(allOf(inEnglish)).not.toMatch(foreign);
});

test("a call that failed is reported in the reader's language, whatever the reason", () => {
  const elsewhere = /^(MALFORMED|AMBIGUOUS|INVALID_(LAYOUT|TIME|CONFIG|SEQUENCE)|SEQUENCE|VALUES|PERIOD)/;
  const reasons = [...errorReasons, "UNREACHABLE", "UNAUTHENTICATED", "DENIED"] as const;
  const met = reasons.filter((reason) => !elsewhere.test(reason));
  expect(met.length).toBeGreaterThan(18);
  for (const texts of [en, zh, sw]) {
    const said = met.map((reason) => texts.generate.failure({ reason, message: "WORDS OF THE SERVER" }));
    expect(said.filter((text) => text.includes("WORDS OF THE SERVER"))).toEqual([]);
    // A reason without words of its own is said in those of the server, behind some of the page's.
    expect(texts.generate.failure({ reason: "OTHER", message: "WORDS OF THE SERVER" })).toMatch(
      /.+WORDS OF THE SERVER$/,
    );
  }
});
