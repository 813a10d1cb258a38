import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createLayout, type Layout } from "../../src/snowflake/layout.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { textForms } from "../../src/text/text-form.ts";
import { writeLink } from "../../web/src/route.ts";
import { en } from "../../web/src/texts/en.ts";
import { webWorld } from "../support/web/web-world.ts";

/** The parts of the views that the flows pass by. */

const world = webWorld();
const id = 1_541_815_603_606_036_522n;

test("the time is shown in UTC, in the reader's zone, and with its age", async () => {
  const page = await world.open({ path: "/#/parse", context: { timezoneId: "Africa/Nairobi" } });
  await page.clock.setFixedTime("2026-11-23T16:07:40.105Z");
  await page.getByRole("textbox", { name: "IDs" }).fill(String(id));
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText("28 June 2022, 16:07:40.105").waitFor();
  expect(await result.innerText()).toContain(
    "UTC, 4 years and 148 days ago · 19:07:40.105 where you are (Africa/Nairobi) · made by worker 26 of datacenter 11, sequence 42",
  );
});

test("where it is another day, that day is named", async () => {
  const page = await world.open({ path: `/#/parse?id=${id}`, context: { timezoneId: "Asia/Tokyo" } });
  await page.getByText("29 June 2022, 01:07:40.105 where you are (Asia/Tokyo)").waitFor();
});

test("a finger names a field of the strip", async () => {
  const page = await world.open({
    path: `/#/parse?id=${id}&layout=twitter`,
    context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  });
  await page.getByRole("button", { name: "sequence: bits 11 to 0, value 42" }).tap();
  expect(await page.locator(".strip-note").innerText()).toBe("sequence: bits 11 to 0, value 42");
});

test("the presets that an ID could be of are listed with its day under each, and read by a press", async () => {
  const page = await world.open({ path: `/#/parse?id=${id}&layout=twitter` });
  const others = page.getByRole("region", { name: "Which system made it" });
  for (const [name, title] of [
    ["twitter", "Twitter"],
    ["discord", "Discord"],
    ["instagram", "Instagram"],
  ] as const) {
    const day = new Date(parseId(layouts[name], id).createTimeMs).toISOString().slice(0, 10);
    await others.getByRole("radio", { name: `${title} ${day}` }).waitFor();
  }
  await others.getByRole("radio", { name: "Discord" }).click();
  await expect.poll(() => page.getByLabel("Layout").inputValue()).toBe("discord");
  await page.getByText("25 August 2026").waitFor();
  await page.getByRole("textbox", { name: "IDs" }).fill("5");
  await others.getByText("No known layout gives this ID a time in the past.").waitFor();
});

test("up to 1,000 IDs are shown, and one more is a file", async () => {
  const page = await world.open();
  for (const [count, name] of [
    ["1000", "Copy all"],
    ["1001", "Download"],
  ] as const) {
    await page.getByLabel("How many").fill(count);
    await page.getByRole("button", { name: "Generate" }).click();
    await page.getByRole("button", { name, exact: true }).waitFor();
  }
  await page.getByText("1,001 IDs, ready to download").waitFor();
  expect(await page.getByRole("textbox", { name: "The IDs" }).count()).toBe(0);
});

/** Makes one ID by hand, of the fields that the layout has. */
async function makeByHand(page: Page, layout: Layout): Promise<bigint> {
  await page.getByRole("button", { name: "In the browser" }).click();
  await page.getByLabel("Time").fill("2026-02-03 04:05:06.700");
  const parts = { Datacenter: layout.datacenter, Worker: layout.worker, Sequence: layout.sequence };
  for (const [name, { bits, max }] of Object.entries(parts)) {
    const field = page.getByRole("textbox", { name, exact: true });
    expect([name, await field.count()]).toEqual([name, bits > 0 ? 1 : 0]);
    if (bits > 0) await field.fill(String(max));
  }
  return BigInt(await page.locator(".when.id").innerText());
}

test("the time of an ID by hand is that of the choice, until one is typed", async () => {
  const page = await world.open();
  const choose = (name: string) => page.getByRole("button", { name }).click();
  const time = page.getByLabel("Time", { exact: true });
  for (const now of ["2031-02-03T04:05:06.789Z", "2032-03-04T05:06:07.890Z"]) {
    await page.clock.setFixedTime(now);
    await choose("In the browser");
    expect(await time.inputValue()).toBe("");
    const { createTimeMs } = parseId(layouts.twitter, BigInt(await page.locator(".when.id").innerText()));
    expect(createTimeMs).toBe(Date.parse(now));
    await choose("From this server");
  }
  await choose("In the browser");
  await time.fill("2026-01-31");
  await choose("From this server");
  await choose("In the browser");
  expect(await time.inputValue()).toBe("2026-01-31");
});

const own = createLayout({
  name: "custom",
  epochMs: Date.UTC(2021, 4, 6),
  tickNs: 1e7,
  fields: [
    { kind: "worker", bits: 7 },
    { kind: "timestamp", bits: 40 },
    { kind: "sequence", bits: 9 },
  ],
});

test.each([layouts.twitter, layouts.discord, layouts.instagram, layouts.sonyflake, layouts.javascript, own])(
  "an ID by hand of the layout $name has the parts that were typed",
  async (layout) => {
    // A link brings the layout, as a reader of a link has it.
    const page = await world.open({ path: `/${writeLink("1", layout)}` });
    await page.getByRole("link", { name: "Generate" }).click();
    const { createTimeMs, datacenterId, workerId, sequence } = parseId(layout, await makeByHand(page, layout));
    expect(createTimeMs).toBe(Date.UTC(2026, 1, 3, 4, 5, 6, layout.tickNs > 1e8 ? 0 : 700));
    const all = { datacenterId, workerId, sequence };
    const max = { datacenterId: layout.datacenter, workerId: layout.worker, sequence: layout.sequence };
    for (const [name, { bits, max: most }] of Object.entries(max))
      if (bits > 0) expect([name, all[name as keyof typeof all]]).toEqual([name, most]);
  },
);

test("an ID by hand is written in every text form as the server writes it", async () => {
  const page = await world.open();
  const codec = createTextCodec({ layout: layouts.twitter, namespace: "default" });
  const made = await makeByHand(page, layouts.twitter);
  for (const form of textForms) {
    await page.getByLabel("Text form").selectOption({ label: en.forms[form] });
    const format = form === "typed" ? { form, typePrefix: "order" } : { form };
    expect([form, await page.locator(".when.id").innerText()]).toEqual([form, codec.writer(format)(made)]);
  }
  await page.getByLabel("Text form").selectOption({ label: "base32" });
  await page.getByLabel("Check symbol at the end").check();
  await expect
    .poll(() => page.locator(".when.id").innerText())
    .toBe(codec.writer({ form: "base32", checkSymbol: true })(made));
});

test("Learn has every part, links that tell no address, and counts a custom layout", async () => {
  const page = await world.open({ path: "/#/learn" });
  const { learn } = en;
  for (const name of [
    learn.steps,
    learn.calculator,
    learn.program,
    learn.uses.title,
    learn.limits.title,
    learn.edges.title,
    learn.alternatives.title,
    learn.history.title,
    learn.references.title,
  ])
    await page.getByRole("heading", { name, exact: true }).waitFor();
  await page.getByText("10 July 2080").waitFor();
  const links = page.getByRole("main").locator('a[href^="https:"]');
  expect(await links.count()).toBe(5);
  for (const link of await links.all()) expect(await link.getAttribute("rel")).toBe("noreferrer");
  await page.getByLabel("Layout", { exact: true }).selectOption("custom");
  await page.getByLabel("Bits of datacenter").fill("0");
  await page.getByLabel("Bits of sequence").fill("10");
  await page.getByLabel("Unit of time").selectOption({ label: "100 ms" });
  for (const row of ["Worker IDs 32", "IDs a second, each worker 10,240", "IDs a second, all workers 327,680"])
    await page.getByRole("row", { name: row, exact: true }).waitFor();
  // 2^41 tenths of a second from 2010 on end long after the year 9999, where dates end.
  expect(await page.getByRole("row", { name: /^Lasts until/ }).innerText()).toMatch(/\d{4}-\d\d-\d\d/);
});

test("the contents of Learn lead to each of its sections, which then has the focus", async () => {
  const page = await world.open({ path: "/#/learn" });
  const contents = page.getByRole("navigation", { name: en.learn.contents });
  const links = await contents.getByRole("link").all();
  expect(links.length).toBe(10);
  const targets: string[] = [];
  for (const link of links) {
    await link.click();
    targets.push(await page.evaluate("document.activeElement.id"));
    expect(await page.evaluate("document.activeElement.localName")).toBe("h2");
    expect(await page.evaluate("location.hash")).toBe("#/learn");
  }
  expect(new Set(targets).size).toBe(10);
});
