import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { webWorld } from "../support/web/web-world.ts";

/** Bad input is reported at the field that is wrong, and at no other. */

const world = webWorld();

/** The epoch and the bits, by their names. */
const fields = {
  date: "Epoch, as a date (UTC)",
  ms: "Epoch, in Unix milliseconds",
  time: "Bits of time",
  datacenter: "Bits of datacenter",
  worker: "Bits of worker",
  sequence: "Bits of sequence",
} as const;

/** What each wrong field says by `aria-describedby`; a field that is right is left out. */
async function toldOf(page: Page): Promise<Readonly<Record<string, string>>> {
  const told: Record<string, string> = {};
  for (const [name, label] of Object.entries(fields)) {
    const field = page.getByRole("textbox", { name: label, exact: true });
    if ((await field.getAttribute("aria-invalid")) !== "true") continue;
    const ids = ((await field.getAttribute("aria-describedby")) ?? "").split(" ");
    const notes = await Promise.all(ids.map((id) => page.locator(`#${id}.error`).allInnerTexts()));
    told[name] = notes.flat().join(" ");
  }
  return told;
}

const date = "Write a date such as 2020-01-01.";
const ms = "Write Unix milliseconds, such as 1577836800000.";
const future = "This epoch lies in the future: no ID can be made before it.";
const range = "An epoch lies between the years 1 and 9999.";
const bits = "A field has 0 to 32 bits, the time 1 to 62.";
const sum = "The fields take 64 bits. At most 63 are possible, because the first bit stays 0.";
const identity = "Datacenter and worker take 33 bits. At most 32 are possible.";

const cases = [
  [{ ms: "soon" }, { ms }],
  [{ date: "soon" }, { date }],
  [{ date: "2021-05-06", ms: "soon" }, { ms }],
  [{ ms: "1620259200000", date: "soon" }, { date }],
  [
    { date: "soon", ms: "later" },
    { date, ms },
  ],
  [{ date: "2999-01-01" }, { date: future, ms: future }],
  [{ ms: "999999999999999" }, { date: future, ms: future }],
  [{ ms: "-99999999999999" }, { date: range, ms: range }],
  [{ ms: "soon", date: "2021-05-06" }, {}],
  [{ sequence: "many" }, { sequence: bits }],
  [{ time: "63" }, { time: bits }],
  [
    { worker: "33", datacenter: "-1" },
    { worker: bits, datacenter: bits },
  ],
  [{ time: "0" }, { time: "An ID needs at least one bit of time." }],
  [{ time: "42" }, { time: sum, datacenter: sum, worker: sum, sequence: sum }],
  [
    { sequence: "0", time: "20", datacenter: "16", worker: "17" },
    { datacenter: identity, worker: identity },
  ],
  [
    { sequence: "many", ms: "soon" },
    { sequence: bits, ms },
  ],
] as const;

test("a wrong epoch and wrong bits of a layout are reported at each field that is wrong, and at no other", async () => {
  const page = await world.open({ path: "/#/learn" });
  const layout = page.getByLabel("Layout", { exact: true });
  for (const [typed, told] of cases) {
    await layout.selectOption("twitter");
    await layout.selectOption("custom");
    for (const [name, text] of Object.entries(typed))
      await page.getByRole("textbox", { name: fields[name as keyof typeof fields], exact: true }).fill(text);
    expect([typed, await toldOf(page)]).toEqual([typed, told]);
  }
});
