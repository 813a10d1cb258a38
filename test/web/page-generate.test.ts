import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { parseId } from "../../src/snowflake/parse.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { principalsFile, tokenOf } from "../support/processes/principals-file.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { webWorld } from "../support/web/web-world.ts";

/** Generate as people use it after the first ID: its parts, other text forms, and the same from code. */

const world = webWorld();
const shownId = ".when.id";

/** Presses Generate, and gives the ID that comes. */
async function generate(page: Page): Promise<bigint> {
  const id = page.locator(shownId);
  const before = (await id.count()) === 0 ? "" : await id.innerText();
  await page.getByRole("button", { name: "Generate", exact: true }).click();
  await expect.poll(async () => ((await id.count()) === 0 ? before : await id.innerText())).not.toBe(before);
  return BigInt(await id.innerText());
}

/** Counts the calls that a page makes, but those by which it looks after its server. */
function countCalls(page: Page): readonly string[] {
  const calls: string[] = [];
  page.on("request", (request) => {
    const method = request.url().split("/").at(-1)!;
    if (/IdService/.test(request.url()) && method !== "GetInfo") calls.push(method);
  });
  return calls;
}

test("PAGE 9: a new ID shows its time, its worker and its bits at once, and the IDs before it stay", async () => {
  const context = { permissions: ["clipboard-read", "clipboard-write"] };
  const page = await world.open({ path: "/#/generate", context });
  await page.getByText("serving").waitFor();
  const first = await generate(page);
  const { createTimeMs, datacenterId, workerId, sequence } = parseId(layouts.twitter, first);
  const result = page.getByRole("region", { name: "Result" });
  const made = await result.locator(".made").innerText();
  expect(made).toContain(new Date(createTimeMs).toISOString().slice(11, -1));
  expect(made).toContain(
    `worker ${workerId} of datacenter ${datacenterId}, sequence ${sequence?.toLocaleString("en")}`,
  );
  expect((await result.locator(".bits .b").allInnerTexts()).join("").replaceAll(/\s/g, "")).toBe(
    first.toString(2).padStart(64, "0"),
  );
  expect(await page.getByRole("heading", { name: "Earlier in this tab" }).count()).toBe(0);
  const second = await generate(page);
  const third = await generate(page);
  const earlier = page.getByRole("region", { name: "Earlier in this tab" });
  expect(await earlier.getByRole("rowheader").allInnerTexts()).toEqual([second, first].map(String));
  await earlier.getByRole("button", { name: "Copy all" }).click();
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(`${second}\n${first}`);
  await page.getByRole("button", { name: "Read as a list" }).click();
  await page.getByText("2 lines read.").waitFor();
  expect(third).toBeGreaterThan(second);
});

test("of many IDs the first are taken apart in a table", async () => {
  const page = await world.open({ path: "/#/generate" });
  await page.getByLabel("How many").fill("250");
  await page.getByRole("button", { name: "Generate", exact: true }).click();
  const list = page.getByRole("textbox", { name: "The IDs" });
  await list.waitFor();
  const ids = (await list.inputValue()).split("\n");
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText("The parts of the first 20 IDs:").waitFor();
  expect(await result.getByRole("rowheader").allInnerTexts()).toEqual(ids.slice(0, 20));
  const [, time, worker, sequence] = await result.getByRole("row").nth(1).locator("th, td").allInnerTexts();
  const parts = parseId(layouts.twitter, BigInt(ids[0]!));
  expect([time, worker, sequence]).toEqual([
    new Date(parts.createTimeMs).toISOString().slice(11, -1),
    `${parts.datacenterId} / ${parts.workerId}`,
    String(parts.sequence),
  ]);
});

test("PAGE 11: another text form rewrites the IDs that are there, without a call", async () => {
  const page = await world.open({ path: "/#/generate" });
  await page.getByText("serving").waitFor();
  const id = await generate(page);
  const calls = countCalls(page);
  const codec = createTextCodec({ layout: layouts.twitter, namespace: "default" });
  for (const form of ["hex", "base32", "base58", "base62", "serial", "typed", "decimal"] as const) {
    await page.getByLabel("Text form").selectOption(form);
    const options = form === "typed" ? { typePrefix: "order" } : {};
    await expect.poll(() => page.locator(shownId).innerText()).toBe(codec.writer({ form, ...options })(id));
  }
  await page.getByLabel("Text form").selectOption("base32");
  await page.getByLabel("Check symbol at the end").check();
  await expect
    .poll(() => page.locator(shownId).innerText())
    .toBe(codec.writer({ form: "base32", checkSymbol: true })(id));
  expect(calls).toEqual([]);
  // Whether the UUIDs of the server are those that the page writes is asked once.
  for (const form of ["uuid", "decimal", "uuid"]) await page.getByLabel("Text form").selectOption(form);
  await expect.poll(() => page.locator(shownId).innerText()).toBe(codec.writer({ form: "uuid" })(id));
  expect(new Set(calls)).toEqual(new Set(["Parse"]));
});

test("UUIDs of a namespace that the page does not know come from the server alone", async () => {
  const server = await world.startServer(["--namespace", "orders"]);
  const page = await world.open({ origin: server.url, path: "/#/generate" });
  await page.getByText("serving").waitFor();
  const id = await generate(page);
  await page.getByLabel("Text form").selectOption("uuid");
  await page.getByText("Press Generate again: the page cannot write this form").waitFor();
  expect(await page.locator(shownId).innerText()).toBe(String(id));
  await page.getByRole("button", { name: "Generate", exact: true }).click();
  await expect.poll(() => page.locator(shownId).innerText()).toMatch(/^[0-9a-f-]{36}$/);
  const uuid = await page.locator(shownId).innerText();
  const codec = createTextCodec({ layout: layouts.twitter, namespace: "orders" });
  expect(codec.read(uuid, { form: "uuid", nowMs: Date.now() }).id).toBeTypeOf("bigint");
  await page.getByLabel("Text form").selectOption("hex");
  await expect.poll(() => page.locator(shownId).innerText()).toMatch(/^0x[0-9a-f]{16}$/);
});

test("PAGE 14: a time by hand is read as people write it, and the page says how it was read", async () => {
  const page = await world.open({ path: "/#/generate" });
  await page.getByRole("button", { name: "In the browser" }).click();
  const time = page.getByLabel("Time", { exact: true });
  const at = "2026-01-31T09:00:00.123Z";
  for (const [typed, said, iso] of [
    ["1769850000123", "Unix milliseconds: ", at],
    ["1,769,850,000,123", "Unix milliseconds: ", at],
    ["1769850000", "Unix seconds: ", "2026-01-31T09:00:00.000Z"],
    ["1769850000.1239", "Unix seconds: ", at],
    ["1769850000123456", "Unix microseconds: ", at],
    ["1769850000123456789", "Unix nanoseconds: ", at],
    ["2026-01-31T12:00:00.123456789+03:00", "", at],
    ["2026-01-31 09:00:00.123456+00", "", at],
    ["2026-01-31 12:00:00.123456 +0300 UTC", "", at],
    ["2026-01-31t09:00:00.123z", "", at],
    ["2026-01-31", "", "2026-01-31T00:00:00.000Z"],
  ] as const) {
    await time.fill(typed);
    const described = await time.getAttribute("aria-describedby");
    expect([typed, await page.locator(`#${described}`).innerText()]).toEqual([typed, said + iso]);
    const { createTimeMs } = parseId(layouts.twitter, BigInt(await page.locator(shownId).innerText()));
    expect([typed, createTimeMs]).toEqual([typed, Date.parse(iso)]);
  }
  for (const typed of ["2026-02-30", "2026-01-31T12:00:00+24:00", "tomorrow", "17698500001234567890"]) {
    await time.fill(typed);
    expect([typed, await time.getAttribute("aria-invalid")]).toEqual([typed, "true"]);
  }
  await page.getByRole("button", { name: "Now" }).click();
  await expect.poll(() => time.inputValue()).toBe("");
  const { createTimeMs } = parseId(layouts.twitter, BigInt(await page.locator(shownId).innerText()));
  expect(Math.abs(createTimeMs - Date.now())).toBeLessThan(600_000);
});

test("an ID by hand without a time stays the same while nothing is typed", async () => {
  const page = await world.open({ path: "/#/generate" });
  await page.getByText("serving").waitFor();
  await page.getByRole("button", { name: "In the browser" }).click();
  const id = await page.locator(shownId).innerText();
  const looked = page.waitForResponse(/GetInfo/);
  // A tab that comes into sight asks its server again, and is drawn again.
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await looked;
  await page.getByRole("button", { name: "Dark" }).click();
  await expect.poll(() => page.locator(shownId).innerText()).toBe(id);
});

test("PAGE 10: the code follows the count, the form and the token, and by hand it makes the ID itself", async () => {
  const { path } = principalsFile([{ name: "ids", permissions: ["ids"] }]);
  const server = await world.startServer(["--principals", path]);
  const page = await world.open({ origin: server.url, path: "/#/generate", expected: /status of 40[13]/ });
  const code = page.getByRole("region", { name: "The same from code" });
  const text = () => code.locator("pre").innerText();
  await page.getByRole("textbox", { name: "Token" }).fill(tokenOf("ids"));
  await page.getByRole("button", { name: "Use this token" }).click();
  await page.getByText("Calls carry your token.").waitFor();
  await page.getByLabel("How many").fill("3");
  await page.getByLabel("Text form").selectOption("base62");
  await code.getByText("The code takes the token from the variable SNOWLANE_TOKEN.").waitFor();
  expect(await text()).not.toContain(tokenOf("ids"));
  await expect.poll(() => page.evaluate("location.hash")).toBe("#/generate?count=3&form=base62");
  const answer = await runCommand("bash", ["-c", await text()], { env: { SNOWLANE_TOKEN: tokenOf("ids") } });
  const { ids, texts } = JSON.parse(answer);
  expect([ids.length, texts.length]).toEqual([3, 3]);
  await page.getByLabel("How many").fill("1,000,000");
  await code.getByText("One call brings at most 10,000 IDs. The clients stream more.").waitFor();
  expect(await text()).toContain('"count":10000');
  await page.getByRole("button", { name: "In the browser" }).click();
  await page.getByLabel("Text form").selectOption("decimal");
  await page.getByLabel("Time", { exact: true }).fill("2026-01-31");
  await page.getByLabel("Worker", { exact: true }).fill("31");
  const id = await page.locator(shownId).innerText();
  expect(await text()).toContain("1769817600000n");
  expect(await runCommand(process.execPath, ["-e", `${await text()}\nconsole.log(String(id))`])).toBe(`${id}\n`);
});

test("PAGE 13: the address has what was chosen on Generate and Learn, and a reload shows it again", async () => {
  const page = await world.open({ path: "/#/generate" });
  await page.getByRole("button", { name: "In the browser" }).click();
  await page.getByLabel("Layout", { exact: true }).selectOption("sonyflake");
  await page.getByLabel("Time", { exact: true }).fill("2026-01-31");
  await page.getByRole("textbox", { name: "Worker", exact: true }).fill("31");
  await page.getByLabel("Text form").selectOption("hex");
  const id = await page.locator(shownId).innerText();
  const hash = (): Promise<string> => page.evaluate("location.hash");
  const fragment = "#/generate?from=hand&form=hex&time=2026-01-31&worker=31&layout=sonyflake";
  await expect.poll(hash).toBe(fragment);
  await page.reload();
  await page.locator(shownId).waitFor();
  expect(await page.locator(shownId).innerText()).toBe(id);
  await page.getByRole("link", { name: "Learn" }).click();
  await page.getByLabel("Layout", { exact: true }).selectOption("discord");
  await expect.poll(hash).toBe("#/learn?layout=discord");
  await page.reload();
  await page.getByRole("heading", { name: "How an ID works" }).waitFor();
  expect(await page.getByLabel("Layout", { exact: true }).inputValue()).toBe("discord");
  await page.goBack();
  await page.locator(shownId).waitFor();
  await expect.poll(() => page.getByLabel("Layout", { exact: true }).inputValue()).toBe("sonyflake");
});

test("while a server is slow, the page says how far it is, goes on, and can be told to stop", async () => {
  const page = await world.open({ path: "/#/generate", expected: /ERR_/ });
  await page.getByText("serving").waitFor();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/snowlane.v1.IdService/NextId", async (route) => {
    await released;
    await route.continue().catch(() => undefined);
  });
  const press = () => page.getByRole("button", { name: "Generate", exact: true }).click();
  await press();
  await page.getByRole("progressbar").waitFor();
  await page.getByText("0 of 1").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Press Generate for an ID").waitFor();
  await press();
  await page.getByRole("progressbar").waitFor();
  release();
  await page.locator(shownId).waitFor();
  expect(await page.getByRole("progressbar").count()).toBe(0);
});
