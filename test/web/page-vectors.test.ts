import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { createLayout, type Layout, type LayoutSpec } from "../../src/snowflake/layout.ts";
import { presetLayout, type PresetName } from "../../src/snowflake/presets.ts";
import { readForeignText } from "../../src/text/foreign-text.ts";
import { findIds } from "../../src/text/find/find-ids.ts";
import { type TextForm, textForms } from "../../src/text/text-form.ts";
import { writeLink } from "../../web/src/route.ts";
import { codecOf } from "../../web/src/layout-choice.ts";
import { en } from "../../web/src/texts/en.ts";
import { webWorld } from "../support/web/web-world.ts";
import { foreignTexts } from "../text/foreign-texts.ts";
import { loadVectors } from "../vectors/load-vectors.ts";
import type { Vector } from "../vectors/vector-reader.ts";

/**
 * Every shared vector as Parse shows it, digit by digit, by links with presets and with custom layouts.
 *
 * Two things have no place on the page. `public-ids.json` needs a secret key, which the page never asks for. The text
 * `published` of `published-texts.json` is shorter than the form's own, so that no reader of ours takes it.
 */

const world = webWorld();
const files = loadVectors();
const load = (name: string): { readonly vectors: readonly unknown[] } =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8"));

/** A vector of ids.json. */
interface IdVector extends Vector {
  readonly ticks: number;
  readonly datacenterId: number;
  readonly workerId: number;
  readonly sequence: number;
  readonly createTime: { readonly seconds: number; readonly nanos: number };
}
const ids = load("ids").vectors as readonly IdVector[];
const layouts = new Map(files.layouts.vectors.map((spec) => [spec.name, createLayout(spec)]));
/** Detection takes this for now: an ID of a later day is refused. */
const nowMs = Number(files.detection.nowMs);

/** What Parse shows of a text. */
interface Card {
  /** The texts by the names of their forms; empty where it holds no ID. */
  readonly texts: Readonly<Record<string, string>>;
  /** The numbers by their fields. */
  readonly parts: Readonly<Record<string, string>>;
  readonly bits: string;
  /** What a UUID or a text of another generator says of itself, by the names of its parts. */
  readonly others: Readonly<Record<string, string>>;
  readonly said: string;
}

/** Types each text into Parse, and gives what it shows of each. In the page, because a driver would take minutes. */
async function readEach(page: Page, texts: readonly string[]): Promise<readonly Card[]> {
  return page.evaluate(`(async () => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const cards = [];
    for (const text of ${JSON.stringify(texts)}) {
      const field = document.querySelector("textarea");
      field.value = text;
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      // The page draws in a microtask.
      await Promise.resolve().then(() => undefined).then(() => undefined);
      const rows = all("[aria-labelledby=every-form] button").map(({ children: [form, text] }) => [form, text]);
      const parts = all("dl.parts div").map((part) => [part.className, part.querySelector("dd").textContent]);
      const others = all("section.answer .stranger .copyrow").map(({ children: [name, value] }) => [name, value]);
      cards.push({
        texts: Object.fromEntries(rows.map((cells) => cells.map((cell) => cell.textContent.trim()))),
        parts: Object.fromEntries(parts),
        bits: all(".bits .b").map((group) => group.textContent).join(" "),
        others: Object.fromEntries(others.map((cells) => cells.map((cell) => cell.textContent))),
        said: all("section[aria-live]").map((section) => section.textContent.replaceAll(/\\s+/g, " ")).join(" "),
      });
    }
    return cards;
  })()`);
}

/** Opens Parse, with a clock that shows what the vectors want. */
async function openParse(): Promise<Page> {
  const page = await world.open({ path: "/#/parse" });
  await page.clock.setFixedTime(nowMs);
  await loadParts(page);
  return page;
}

/** The parts of a text of another generator are loaded with the first one: from then on they are drawn at once. */
async function loadParts(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "IDs" }).fill(foreignTexts[0]!.text);
  await page.locator(".stranger").waitFor();
}

/** Chooses a layout by a link, as the reader of a link does. */
async function choose(page: Page, layout: Layout): Promise<void> {
  await page.goto(`${world.server().url}/${writeLink("1", layout)}`);
  await page.getByRole("textbox", { name: "IDs" }).waitFor();
}

const chooseForm = (page: Page, form: TextForm | null) =>
  page
    .getByRole("combobox", { name: "Text form" })
    .selectOption({ label: form === null ? en.parse.detect : en.forms[form] });

/** The text of a vector in a form as Parse writes it: without prefix, in UTC. */
function plainText({ texts }: Vector, form: TextForm): string | undefined {
  const isPlain = (text: Vector["texts"][number]): boolean =>
    text.form === form &&
    text.checkSymbol !== true &&
    (text.serialPrefix ?? "") === "" &&
    (text.utcOffsetMinutes ?? 0) === 0;
  return texts.find(isPlain)?.text;
}

const written = textForms.filter((form) => form !== "typed");

describe.each([...layouts.keys()])("%s", (name) => {
  const layout = layouts.get(name)!;
  const vectors = ids.filter((vector) => vector.layout === name);

  test("every ID has the parts, the bits, the time and the texts of its vector, and every text leads back to it", async () => {
    expect(vectors.length).toBeGreaterThan(5);
    const page = await openParse();
    await choose(page, layout);
    for (const [index, card] of (
      await readEach(
        page,
        vectors.map(({ id }) => id),
      )
    ).entries()) {
      const vector = vectors[index]!;
      const { ticks, datacenterId, workerId, sequence, bits, id } = vector;
      const parts = { timestamp: ticks, datacenter: datacenterId, worker: workerId, sequence };
      for (const [field, value] of Object.entries(parts)) {
        const hasField = field === "timestamp" || layout.fields.some(({ kind }) => kind === field);
        expect([id, field, card.parts[field]]).toEqual([id, field, hasField ? String(value) : undefined]);
      }
      expect(card.bits).toBe(bits);
      for (const form of written)
        expect([id, form, card.texts[en.forms[form]]]).toEqual([id, form, plainText(vector, form)]);
    }
    for (const form of textForms) {
      await chooseForm(page, form);
      const back = vectors.flatMap(({ id, texts }) =>
        texts
          .filter((text) => text.form === form && (text.utcOffsetMinutes ?? 0) === 0)
          .map(({ text }) => ({ id, text })),
      );
      const cards = await readEach(
        page,
        back.map(({ text }) => text),
      );
      expect(cards.map(({ texts }, index) => [back[index]!.text, texts["decimal"]])).toEqual(
        back.map(({ text, id }) => [text, id]),
      );
    }
    await chooseForm(page, "decimal");
    await page.getByRole("textbox", { name: "IDs" }).fill(vectors.map(({ id }) => id).join("\n"));
    await page.getByText(`${vectors.length} lines read.`).waitFor();
    const rows = await page
      .locator('.piece [role="row"]')
      .evaluateAll((rows) => rows.map((row) => row.children[2]!.textContent));
    const times = vectors.map(({ createTime: { seconds, nanos } }) =>
      new Date(seconds * 1_000 + Math.floor(nanos / 1e6)).toISOString(),
    );
    expect(rows).toEqual(times);
  });
});

interface Published {
  readonly text: string;
  readonly version: number;
  readonly id?: string | null;
}

test("every UUID shows its version, and its ID if it holds one", async () => {
  const page = await openParse();
  await choose(page, layouts.get(String(files.uuids.layout))!);
  const uuids = ["uuids", "published-uuids"].flatMap((name) => load(name).vectors as readonly Published[]);
  expect(uuids.length).toBeGreaterThan(30);
  const cards = await readEach(
    page,
    uuids.map(({ text }) => text),
  );
  for (const [index, { text, version, id = null }] of uuids.entries()) {
    const { said, texts } = cards[index]!;
    expect([text, texts["decimal"] ?? null]).toEqual([text, id]);
    if (id === null) expect([text, said]).toEqual([text, expect.stringContaining(en.parse.uuid.title(version))]);
  }
});

test("every text that others published is the number that they wrote, and is written so again", async () => {
  const page = await openParse();
  await choose(page, presetLayout("twitter"));
  const { vectors } = files["published-texts"];
  expect(vectors.length).toBeGreaterThan(10);
  for (const form of new Set(vectors.map((vector) => vector.form))) {
    const own = vectors.filter((vector) => vector.form === form);
    await chooseForm(page, form);
    const cards = await readEach(
      page,
      own.map(({ text }) => text),
    );
    const shown = cards.map(({ texts }) => [texts["decimal"], texts[en.forms[form!]]]);
    expect(shown).toEqual(own.map(({ number, text }) => [number, text]));
  }
});

test("every published text of another generator shows its time and its parts", async () => {
  const page = await openParse();
  expect(foreignTexts.length).toBeGreaterThan(4);
  const cards = await readEach(
    page,
    foreignTexts.map(({ text }) => text),
  );
  for (const [index, { text, kind, createTime, parts }] of foreignTexts.entries()) {
    const { said, others } = cards[index]!;
    expect([text, others]).toEqual([text, parts]);
    expect([text, said]).toEqual([text, expect.stringContaining(en.parse.foreign.title(kind))]);
    const time = new Date(createTime).toISOString().slice(11, 23);
    expect([text, said]).toEqual([text, expect.stringContaining(time)]);
  }
});

/** Whether the page finds an ID in a text that is in no form: strict reading refuses it, and the page shows the ID. */
function holdsAnId(text: string, layout: Layout): boolean {
  return findIds(text, { nowMs, codec: codecOf(layout) }).finds.length > 0;
}

test("every text of the vectors of detection is read as the vectors say", async () => {
  const page = await openParse();
  const vectors = files.detection.vectors.filter(
    ({ utcOffsetMinutes, layout, id, text }) =>
      utcOffsetMinutes === 0 && (id !== null || !holdsAnId(text, layouts.get(layout)!)),
  );
  for (const [name, layout] of layouts) {
    const own = vectors.filter((vector) => vector.layout === name);
    if (own.length === 0) continue;
    await choose(page, layout);
    const cards = await readEach(
      page,
      own.map(({ text }) => text),
    );
    const found = cards.map(({ texts }, index) => [own[index]!.text, texts["decimal"] ?? null]);
    expect(found).toEqual(own.map(({ text, id }) => [text, id]));
  }
});

test("every text that the vectors refuse is refused", async () => {
  const page = await openParse();
  // Parse trims lines, asks for no prefix, and takes a text of another generator for what it is.
  const vectors = files.refused.vectors.filter(
    ({ kind, text, typePrefix }) => kind === "text" && typePrefix === undefined && text.trim() === text && text !== "",
  );
  expect(vectors.length).toBeGreaterThan(150);
  for (const [name, layout] of layouts) {
    for (const form of [null, ...textForms]) {
      const own = vectors.filter(
        (vector) =>
          vector.layout === name && vector.form === form && (form !== null || !holdsAnId(vector.text, layout)),
      );
      if (own.length === 0) continue;
      await choose(page, layout);
      await chooseForm(page, form);
      const cards = await readEach(
        page,
        own.map(({ text }) => text),
      );
      for (const [index, { said }] of cards.entries()) {
        const { text } = own[index]!;
        const isForeign = form === null && readForeignText(text) !== undefined;
        const told = isForeign ? en.parse.foreign.note : en.parse.refused;
        expect([form, text, said]).toEqual([form, text, expect.stringContaining(told)]);
      }
    }
  }
});

interface PublishedId {
  readonly id: string;
  readonly layout: PresetName | LayoutSpec;
  readonly createTime?: string;
  readonly ticks?: number;
  readonly datacenterId?: number;
  readonly workerId?: number;
  readonly sequence?: number;
}

test("every published ID shows what was published of it", async () => {
  const page = await openParse();
  for (const vector of load("published-ids").vectors as readonly PublishedId[]) {
    const { id, layout, createTime, ticks, datacenterId, workerId, sequence } = vector;
    await choose(page, typeof layout === "string" ? presetLayout(layout) : createLayout(layout));
    const [card] = await readEach(page, [id]);
    const { parts, said } = card!;
    const published = { timestamp: ticks, datacenter: datacenterId, worker: workerId, sequence };
    for (const [field, value] of Object.entries(published))
      if (value !== undefined) expect([id, field, parts[field]]).toEqual([id, field, String(value)]);
    if (createTime !== undefined) {
      const time = new Date(createTime).toISOString().slice(11, 19 + (/\.\d+/.exec(createTime)?.[0].length ?? 0));
      expect([id, said]).toEqual([id, expect.stringContaining(time)]);
    }
  }
});
