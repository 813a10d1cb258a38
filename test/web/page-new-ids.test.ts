import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseId } from "../../src/snowflake/parse.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { webWorld } from "../support/web/web-world.ts";

/** New IDs: many from the server, shown or as a file, and those that are made by hand. */

const world = webWorld();

const hero = ".when";

test("many IDs are shown in the text form that is asked for, distinct and readable", async () => {
  const page = await world.open();
  for (const [form, shape] of [
    ["base62", /^[0-9A-Za-z]{11}$/],
    ["UUID", /^[0-9a-f-]{36}$/],
    ["serial", /^AB\d{25}$/],
    ["typed", /^order_[1-9A-Za-z]{11}$/],
  ] as const) {
    await page.getByLabel("Text form").selectOption({ label: form });
    await page.getByLabel("How many").fill("250");
    if (form === "serial") await page.getByLabel("Prefix").fill("AB");
    await page.getByRole("button", { name: "Generate" }).click();
    const list = page.getByRole("textbox", { name: "The IDs" });
    await expect.poll(async () => shape.test((await list.inputValue()).split("\n")[0] ?? "")).toBe(true);
    const texts = (await list.inputValue()).split("\n");
    expect(new Set(texts).size).toBe(250);
    expect(texts.filter((text) => !shape.test(text))).toEqual([]);
  }
});

test("a million IDs become a file of distinct, rising IDs", async () => {
  const page = await world.open();
  await page.getByLabel("How many").fill("1,000,000");
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByText("1,000,000 IDs, ready to download").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download" }).click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8")
    .trimEnd()
    .split("\n");
  expect(lines.length).toBe(1_000_000);
  // All have 19 digits, so texts compare as the IDs do.
  expect(lines.every((line, index) => line.length === 19 && (index === 0 || line > lines[index - 1]!))).toBe(true);
});

test("a run that is cancelled ends at once, and what came can be saved", async () => {
  const page = await world.open();
  await page.getByText("serving").waitFor();
  // A slow network, so that the run is still going on when it is cancelled.
  const network = await page.context().newCDPSession(page);
  const slow = { offline: false, latency: 0, downloadThroughput: 400_000, uploadThroughput: 400_000 };
  await network.send("Network.emulateNetworkConditions", slow);
  await page.getByLabel("How many").fill("1000000");
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByRole("progressbar").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  // The network would bring the rest for another minute.
  await page.getByText(/^Cancelled\. You can use the [\d,]+ IDs? that had arrived|Press Generate/).waitFor();
  expect(await page.getByRole("progressbar").count()).toBe(0);
});

test("a count of 0, of 10^7 and of no number is reported at its field, and asks nothing of the server", async () => {
  const page = await world.open();
  const field = page.getByLabel("How many");
  for (const count of ["0", "10000000", "-1", "1.5", "many", ""]) {
    await field.fill(count);
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    const described = await field.getAttribute("aria-describedby");
    expect(await page.locator(`#${described}`).innerText()).toBe("Write a whole number from 1 to 1,000,000.");
    expect(await page.getByRole("button", { name: "Generate" }).isDisabled()).toBe(true);
  }
});

test("an ID made by hand with an epoch of its own reads back the same in snowlane parse", async () => {
  const page = await world.open();
  await page.getByRole("button", { name: "In the browser" }).click();
  await page.getByText("nothing keeps it unique").waitFor();
  await page.getByRole("button", { name: "Change the epoch or the layout" }).click();
  await page.getByLabel("Epoch, as a date").fill("2020-01-01");
  await expect.poll(() => page.getByLabel("Epoch, in Unix milliseconds").inputValue()).toBe("1577836800000");
  await page.getByLabel("Time").fill("2026-01-31 12:00:00.123");
  await page.getByLabel("Datacenter").fill("3");
  await page.getByLabel("Worker").fill("31");
  await page.getByLabel("Sequence").fill("4095");
  const id = await page.locator(`${hero}.id`).innerText();
  const flags = ["--layout", "twitter", "--epoch", "2020-01-01T00:00:00Z", "--json"];
  const output = await runCommand(process.execPath, ["dist/main.js", "parse", id, ...flags]);
  const read = JSON.parse(output);
  expect(read).toMatchObject({ datacenterId: 3, workerId: 31, sequence: 4095 });
  expect(output).toContain("2026-01-31T12:00:00.123Z");
});

test("each part that is wrong has its own error, while typing", async () => {
  const page = await world.open();
  await page.getByRole("button", { name: "In the browser" }).click();
  for (const [label, text, error] of [
    ["Datacenter", "32", "In this layout the field is 0 to 31."],
    ["Worker", "-1", "In this layout the field is 0 to 31."],
    ["Sequence", "4096", "In this layout the field is 0 to 4,095."],
    ["How many", "1001", "In this layout the field is 1 to 1,000."],
    ["Time", "2010-11-04", "Before the layout's epoch, 2010-11-04T01:42:54.657Z"],
    ["Time", "2080-07-11", "After the layout's end, 2080-07-10T17:30:30.209Z"],
    ["Time", "yesterday", "Write a time such as"],
  ] as const) {
    const field = page.getByLabel(label, { exact: true });
    const right = await field.inputValue();
    await field.fill(text);
    const described = await field.getAttribute("aria-describedby");
    expect(await page.locator(`#${described}`).innerText()).toContain(error);
    expect(await page.locator(`${hero}.id`).count()).toBe(0);
    await field.fill(right);
    await page.locator(`${hero}.id`).waitFor();
  }
});

test("PAGE 14: the time of an ID by hand may be empty, in seconds, with an offset and finer than a millisecond", async () => {
  const page = await world.open();
  await page.getByRole("button", { name: "In the browser" }).click();
  const made = async (time: string) => {
    await page.getByLabel("Time", { exact: true }).fill(time);
    return parseId(layouts.twitter, BigInt(await page.locator(`${hero}.id`).innerText())).createTimeMs;
  };
  const expected = Date.UTC(2026, 0, 31, 9, 0, 0, 123);
  expect(await made("2026-01-31T12:00:00.123456789+03:00")).toBe(expected);
  expect(await made("2026-01-31 09:00:00.123456Z")).toBe(expected);
  expect(await made("1700000000")).toBe(1_700_000_000_000);
  expect(Math.abs((await made("")) - Date.now())).toBeLessThan(600_000);
  await page.getByLabel("How many").fill("1,000");
  await page.getByRole("button", { name: "Copy all" }).waitFor();
});
