import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { parseId } from "../../src/snowflake/parse.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { principalsFile, tokenOf } from "../support/processes/principals-file.ts";
import { webWorld } from "../support/web/web-world.ts";

/** The flows of the page by the keyboard alone: no mouse, no finger, and no script that moves the focus. */

const world = webWorld();

/** Presses Tab, or Shift+Tab, until a control has the focus. */
async function tabTo(
  page: Page,
  role: "button" | "link" | "textbox" | "combobox",
  name: string | RegExp,
  key: "Tab" | "Shift+Tab" = "Tab",
): Promise<void> {
  const target = page.getByRole(role, { name, exact: typeof name === "string" }).first();
  await target.waitFor();
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element.matches(":focus"))) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} never reached ${String(name)}`);
}

async function press(page: Page, role: "button" | "link", name: string | RegExp, key = "Enter"): Promise<void> {
  await tabTo(page, role, name);
  await page.keyboard.press(key);
}

/** Types over what a field has. */
async function type(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, "textbox", name);
  await page.keyboard.press("Control+A");
  await page.keyboard.type(text);
}

/** Presses Enter on a button that saves a file, and gives the file's text. */
async function save(page: Page, name: string): Promise<string> {
  await tabTo(page, "button", name);
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  return readFileSync(await download.path(), "utf8");
}

test("one ID of this server is made and read, and its strip is walked through", async () => {
  const page = await world.open();
  await press(page, "button", "Generate");
  await page.locator(".when.id").waitFor();
  await press(page, "button", "Read it");
  await page.getByRole("region", { name: "Result" }).waitFor();
  await tabTo(page, "button", /^time: bits/);
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => page.locator(".strip-note").innerText()).toContain("datacenter: bits 21 to 17");
});

test("the form of an ID is changed, an earlier one is read, and the program of another language is copied", async () => {
  const page = await world.open({ path: "/#/generate" });
  await page.getByText("serving").waitFor();
  const shown = page.locator(".when.id");
  await press(page, "button", "Generate");
  await shown.waitFor();
  const first = await shown.innerText();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Earlier in this tab" }).waitFor();
  await tabTo(page, "combobox", "Language");
  await page.keyboard.type("Python");
  await page.getByText("import urllib.request").waitFor();
  await press(page, "button", "Copy the code");
  await page.getByRole("button", { name: /^(Copied|Not allowed)/ }).waitFor();
  await tabTo(page, "combobox", "Text form", "Shift+Tab");
  await page.keyboard.type("hex");
  await expect.poll(() => shown.innerText()).toMatch(/^0x[0-9a-f]{16}$/);
  await press(page, "button", "Read as a list");
  await expect.poll(() => page.title()).toBe("Parse an ID · Snowlane");
  expect(await page.locator("main textarea").first().inputValue()).toBe(first);
});

test("the first Tab leads past the head", async () => {
  const page = await world.open();
  await page.keyboard.press("Tab");
  await expect.poll(() => page.evaluate("document.activeElement.className")).toBe("skip");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  const first = page.getByRole("main").locator("a, button").first();
  expect(await first.evaluate((element) => element.matches(":focus"))).toBe(true);
});

test("an ID is made by hand with an epoch of its own", async () => {
  const page = await world.open();
  await press(page, "button", "In the browser", "Space");
  await press(page, "button", "Change the epoch or the layout");
  await type(page, "Epoch, as a date (UTC)", "2020-01-01");
  await type(page, "Time", "2026-01-31 12:00:00.123");
  await type(page, "Datacenter", "3");
  await type(page, "Worker", "31");
  await type(page, "Sequence", "4095");
  const id = BigInt(await page.locator(".when.id").innerText());
  const { createTimeMs, datacenterId, workerId, sequence } = parseId(layouts.twitter, id);
  expect([datacenterId, workerId, sequence]).toEqual([3, 31, 4095]);
  const sinceEpochMs = createTimeMs - layouts.twitter.epochMs;
  expect(sinceEpochMs).toBe(Date.parse("2026-01-31T12:00:00.123Z") - Date.parse("2020-01-01T00:00:00Z"));
});

test("a file of many IDs is begun, cancelled and saved", async () => {
  const page = await world.open();
  await page.getByText("serving").waitFor();
  // A slow network, so that the run is still going on when it is cancelled.
  const network = await page.context().newCDPSession(page);
  const slow = { offline: false, latency: 0, downloadThroughput: 400_000, uploadThroughput: 400_000 };
  await network.send("Network.emulateNetworkConditions", slow);
  await type(page, "How many", "1000000");
  await page.keyboard.press("Enter");
  await page.getByText(/[1-9][\d,]* of 1,000,000/).waitFor();
  await press(page, "button", "Cancel");
  await page.getByText(/^Cancelled\. You can use the [\d,]+ IDs? that had arrived/).waitFor();
  const lines = (await save(page, "Download")).trimEnd().split("\n");
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines.every((line) => /^\d{18,19}$/.test(line))).toBe(true);
});

test("several lines are read, and saved as CSV", async () => {
  const page = await world.open({ path: "/#/parse" });
  await tabTo(page, "textbox", "Text with IDs");
  await page.keyboard.type("1541815603606036480");
  await page.keyboard.press("Enter");
  await page.keyboard.type("nonsense");
  await page.getByText("2 lines read, of which 1 holds no ID.").waitFor();
  const rows = (await save(page, "Download CSV")).trimEnd().split("\r\n");
  expect(rows).toHaveLength(3);
  expect(rows[1]).toBe("1541815603606036480,1541815603606036480,2022-06-28T16:07:40.105Z,11,26,0,,");
});

test("a layout and a language are chosen on Learn, and workers are searched on Watch", async () => {
  const page = await world.open();
  await press(page, "link", "Learn");
  await tabTo(page, "combobox", "Layout");
  await page.keyboard.type("Sonyflake");
  await page.getByRole("row", { name: "IDs a second, each worker 25,600" }).waitFor();
  await tabTo(page, "combobox", "Language");
  await page.keyboard.type("Python");
  await page.getByText("TICK_MS = 10").waitFor();
  await tabTo(page, "link", "Watch", "Shift+Tab");
  await page.keyboard.press("Enter");
  await press(page, "button", "1 min", "Space");
  expect(await page.getByRole("button", { name: "1 min" }).getAttribute("aria-pressed")).toBe("true");
  await tabTo(page, "textbox", "Find");
  await page.keyboard.type("no such host");
  await page.getByText("0 of 1 worker ID that was ever held.").waitFor();
  await tabTo(page, "combobox", "State");
  await page.keyboard.type("rel");
  expect(await page.getByLabel("State").inputValue()).toBe("released");
});

test("a token is given and forgotten", async () => {
  const { path } = principalsFile([{ name: "watcher", permissions: ["ids", "observe"] }]);
  const server = await world.startServer(["--principals", path]);
  const page = await world.open({ origin: server.url, path: "/#/watch", expected: /status of 40[13]/ });
  await tabTo(page, "textbox", "Token");
  await page.keyboard.type(tokenOf("watcher"));
  await page.keyboard.press("Enter");
  await page.getByText("Calls carry your token.").waitFor();
  await press(page, "button", "Forget it");
  await page.getByRole("textbox", { name: "Token" }).waitFor();
  expect(await page.getByRole("textbox", { name: "Token" }).inputValue()).toBe("");
});

test("the language and the colours are chosen", async () => {
  const page = await world.open();
  const html = page.locator("html");
  await press(page, "button", "Dark", "Space");
  expect(await html.getAttribute("data-theme")).toBe("dark");
  await tabTo(page, "button", "Light", "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => html.getAttribute("data-theme")).toBe("light");
  await tabTo(page, "button", "Kiswahili", "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Zalisha", exact: true }).waitFor();
  expect(await html.getAttribute("lang")).toBe("sw");
  await tabTo(page, "button", "English", "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Generate IDs" }).waitFor();
});
