import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Locator } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { parseId } from "../../src/snowflake/parse.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { sampleFiles, sampleLanguages, writeSample } from "../../web/src/layout-samples.ts";
import { webWorld } from "../support/web/web-world.ts";

/** What people do on the page, by what is visible and named on the screen alone. */

const world = webWorld();

const hero = ".when";

test("an ID from this server is shown, and read in words on Parse", async () => {
  const page = await world.open();
  await page.getByText("serving").waitFor();
  await page.getByRole("button", { name: "Generate" }).click();
  const id = await page.locator(`${hero}.id`).innerText();
  const { createTimeMs, datacenterId, workerId } = parseId(layouts.twitter, BigInt(id));
  expect(Math.abs(createTimeMs - Date.now())).toBeLessThan(60_000);
  await page.getByRole("button", { name: "Read it" }).click();
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText(`made by worker ${workerId} of datacenter ${datacenterId}`).waitFor();
  expect(await page.getByRole("textbox", { name: "IDs" }).inputValue()).toBe(id);
  expect(await page.title()).toBe("Parse an ID · Snowlane");
});

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
    await expect
      .poll(async () => shape.test((await list.inputValue()).split("\n")[0] ?? ""), { timeout: 60_000 })
      .toBe(true);
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

test("a run that is cancelled ends within a second, and what came can be saved", async () => {
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
  await page
    .getByText(/^Cancelled\. You can use the [\d,]+ IDs? that had arrived|Press Generate/)
    .waitFor({ timeout: 1_000 });
  expect(await page.getByRole("progressbar").count()).toBe(0);
});

test("a count of 0, of 10^7 and of no number is reported at its field, and asks nothing of the server", async () => {
  const page = await world.open();
  const field = page.getByLabel("How many");
  for (const count of ["0", "10000000", "-1", "1.5", "many", ""]) {
    await field.fill(count);
    expect(await field.getAttribute("aria-invalid")).toBe("true");
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
  expect(await page.getByLabel("Epoch, in Unix milliseconds").inputValue()).toBe("1577836800000");
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

test("a custom layout of 64 bits and an epoch in the future are reported in words", async () => {
  const page = await world.open({ path: "/#/parse?id=1" });
  await page.getByLabel("Layout").selectOption("custom");
  await page.getByLabel("Bits of time").fill("42");
  await page.getByText("The fields take 64 bits. At most 63 are possible, because the first bit stays 0.").waitFor();
  await page.getByLabel("Bits of time").fill("41");
  await page.getByText("63 of 63 bits used.").waitFor();
  await page.getByLabel("Epoch, as a date").fill("2999-01-01");
  await page.getByText("This epoch lies in the future").waitFor();
});

test("PAGE 4: a Discord, an Instagram and a Sonyflake ID are read right", async () => {
  const page = await world.open({ path: "/#/parse" });
  await page.getByRole("button", { name: "Discord" }).click();
  await page.getByText("30 April 2016, 11:18:25.796").waitFor();
  await page.getByText("worker 1, process 0, increment 7").waitFor();
  for (const layout of ["instagram", "sonyflake"] as const) {
    const id = 1_234_567_890_123_456_789n >> (layout === "sonyflake" ? 4n : 0n);
    const { createTimeMs, workerId } = parseId(layouts[layout], id);
    await page.getByLabel("Layout").selectOption(layout);
    await page.getByRole("textbox", { name: "IDs" }).fill(String(id));
    const name = { instagram: "shard", sonyflake: "machine" }[layout];
    await page
      .getByText(`${name} ${workerId?.toLocaleString("en")}`)
      .first()
      .waitFor();
    const [time = ""] = (await page.locator(hero).innerText()).split("\n");
    expect(Date.parse(`${time.replace(",", "")}Z`)).toBe(createTimeMs);
  }
});

test("no digit is lost: 2^53 + 1, 2^63 - 1 and every ID of the shared vectors", async () => {
  const page = await world.open({ path: "/#/parse" });
  const box = page.getByRole("textbox", { name: "IDs" });
  const { vectors } = JSON.parse(readFileSync("test/vectors/ids.json", "utf8")) as {
    readonly vectors: readonly { readonly id: string; readonly layout: string }[];
  };
  const ids = [2n ** 53n + 1n, 2n ** 63n - 1n].map(String);
  for (const id of ids) {
    await box.fill(id);
    await page.getByRole("button", { name: `decimal ${id}` }).waitFor();
  }
  const ofTwitter = vectors.filter(({ layout }) => layout === "twitter").map(({ id }) => id);
  expect(ofTwitter.length).toBeGreaterThan(5);
  await box.fill(ofTwitter.join("\n"));
  await page.getByText(`${ofTwitter.length} lines read.`).waitFor();
  const cells = await page.locator('[role="rowgroup"] [role="cell"].v').allInnerTexts();
  expect(cells).toEqual(ofTwitter);
});

test("10,000 lines are read in pieces while the page goes on, and a further line is named", async () => {
  const page = await world.open({ path: "/#/parse" });
  await page.evaluate(`{
    globalThis.frameCount = 0;
    const count = () => { frameCount++; requestAnimationFrame(count); };
    count();
  }`);
  const lines = Array.from({ length: 10_001 }, (_, index) => String(1_541_815_603_606_036_480n + BigInt(index)));
  await page.evaluate(`{
    const data = new DataTransfer();
    data.setData("text/plain", ${JSON.stringify(lines.join("\n"))});
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }`);
  // By selectors: a search for text looks through all rows each time.
  const said = async (place: string): Promise<string> => page.locator(place).innerText();
  const patience = { timeout: 60_000, interval: 500 };
  await expect.poll(() => said('.lines [role="status"]'), patience).toBe("10,000 lines read.");
  expect(await said(".left-out")).toBe("The first 10,000 lines are read; 1 more line is left out.");
  expect(await page.locator('[role="rowgroup"] [role="row"]').count()).toBe(10_000);
  // The page drew on between the pieces, instead of standing still until all was read.
  expect(Number(await page.evaluate("frameCount"))).toBeGreaterThan(20);
  expect((await page.locator("#ids").inputValue()).split("\n").length).toBe(200);
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".lines .csv").click()]);
  const rows = readFileSync(await download.path(), "utf8")
    .trimEnd()
    .split("\r\n");
  expect(rows.length).toBe(10_001);
  expect(rows[1]).toBe(`${lines[0]},${lines[0]},2022-06-28T16:07:40.105Z,11,26,0,,`);
  await page.locator(".box .clear").click();
  await page.getByText("Paste one above").waitFor();
});

test("PAGE 12: text that is not an ID is reported in words, and hostile text stays text", async () => {
  const page = await world.open({ path: "/#/parse" });
  const box = page.getByRole("textbox", { name: "IDs" });
  const hostile = `<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`;
  for (const [text, error] of [
    [hostile, "is not allowed there"],
    ["99999999999999999999", "An ID lies between 0 and"],
    ["18446744073709551615", "An ID lies between 0 and"],
    ["9223372036854775808", "An ID lies between 0 and"],
    ["nonsense", "does not look like any ID"],
    ["-1", "An ID lies between 0 and"],
    ["\u202eabc", "is not allowed there"],
  ] as const) {
    await box.fill(text);
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("This is not an ID").waitFor();
    expect([text, await result.innerText()]).toEqual([text, expect.stringContaining(error)]);
  }
  await box.fill(`${hostile}\n${hostile}`);
  await page.getByText("2 lines read, of which 2 hold no ID.").waitFor();
  expect(await page.locator("img, main script").count()).toBe(0);
  expect(await page.title()).toBe("Parse an ID · Snowlane");
});

test("PAGE 7: an ID is found in what people paste, and several of a line are a table", async () => {
  const page = await world.open({ path: "/#/parse" });
  const box = page.getByRole("textbox", { name: "IDs" });
  const time = "28 June 2022, 16:07:40.105";
  const id = "1541815603606036480";
  const uuid = "0190b6b4-7c00-7abc-8def-0123456789ab";
  for (const [text, said] of [
    [`"${id}"`, time],
    [`${id},`, time],
    [`${id}n`, time],
    [`${id}L`, time],
    [`id=${id}`, time],
    [`{"id":"${id}","n":1}`, time],
    [`2026-11-27T22:14:03Z INFO order=${id} took=12ms`, time],
    [`https://x.com/a/status/${id}`, time],
    [`${id}\u200b`, time],
    [`0${id}`, time],
    ["<@175928847299117063>", "worker 1, process 0, increment 7"],
    [`{${uuid.toUpperCase()}}`, "UUID version 7"],
    [`urn:uuid:${uuid}`, "UUID version 7"],
    [uuid.replaceAll("-", ""), "UUID version 7"],
  ] as const) {
    await box.fill("");
    await page.getByText("Paste one above").waitFor();
    await box.fill(text);
    await page.getByRole("region", { name: "Result" }).getByText(said).first().waitFor();
  }
  await box.fill(`${id}, 175928847299117063,${id}`);
  await page.getByText("3 IDs found").waitFor();
  await page.getByText("1 line read.").waitFor();
  await box.fill(`a\t${id}\n<@175928847299117063> ${id}`);
  await page.getByText("2 lines read.").waitFor();
  expect(await page.getByRole("row").count()).toBe(4);
});

test("PAGE 12 and 16: a Unix time and an ID from the future are doubted, and the likelier layout is a press away", async () => {
  const page = await world.open({ path: "/#/parse" });
  const box = page.getByRole("textbox", { name: "IDs" });
  await box.fill("1656432460105");
  await page.getByText("This is a Unix time, 2022-06-28T16:07:40.105Z, more likely than an ID.").waitFor();
  await box.fill("3189745823456789012");
  // Left to itself, the page reads it by a layout that can have made it.
  await page.getByText("ago ·").waitFor();
  await page.getByLabel("Layout").selectOption("twitter");
  await page.getByText("No ID of this layout can be from the future").waitFor();
  const result = page.getByRole("region", { name: "Result" });
  await result.getByRole("button", { name: "Read it as" }).click();
  await page.getByText("No ID of this layout can be from the future").waitFor({ state: "hidden" });
  await page.getByText("ago ·").waitFor();
});

test("PAGE 15: a layout that has ended says so in the choice and beside an ID", async () => {
  const page = await world.open({ path: "/#/parse" });
  await page.getByLabel("Layout").selectOption({ label: "Baidu, since 2016-05-19, ended 2024-11-20" });
  await page.getByRole("textbox", { name: "IDs" }).fill("1541815603606036480");
  await page.getByText("The layout ended on 2024-11-20").waitFor();
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

test("a hostile or broken fragment is shown as text, and reported", async () => {
  for (const path of [
    "/#/parse?id=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&layout=%3Cscript%3E",
    "/#/parse?id=1&layout=custom&fields=timestamp.nonsense&tick=1000000",
    "/#/%3Cscript%3Ealert(1)%3C/script%3E",
    "/#/parse?id=%ZZ&layout=nothing",
    "/#/nonsense",
    "/#/learn?layout=x",
    "/#/generate?layout=twitter&epoch=soon",
    "/#/watch?layout=x",
  ]) {
    const page = await world.open({ path });
    const told = page.getByRole("alert").filter({ hasText: "The link has a part that could not be read." });
    await told.waitFor();
    expect(await page.locator("img, main script").count()).toBe(0);
    await page.getByRole("link", { name: "Parse", exact: true }).click();
    await page.getByRole("heading", { name: "Paste anything that holds IDs" }).waitFor();
    expect([path, await told.count()]).toEqual([path, 0]);
  }
});

test("an ID out of its layout's life is reported in words, alone and among others", async () => {
  const page = await world.open({ path: "/#/parse" });
  await page.getByLabel("Layout").selectOption("javascript");
  const box = page.getByRole("textbox", { name: "IDs" });
  const told = "The number does not fit this layout: it is too large, or has a time after the layout's end.";
  await box.fill(String(2n ** 53n));
  await page.getByRole("region", { name: "Result" }).getByText(told).waitFor();
  await box.fill(`1\n${2n ** 53n}`);
  await page.getByText("2 lines read, of which 1 holds no ID.").waitFor();
  await page.getByRole("cell", { name: told }).waitFor();
  await box.fill(String(2n ** 53n - 1n));
  await page.getByText("made by worker").waitFor();
});

test("every text form and every ID that Generate shows is copied as it is shown", async () => {
  const page = await world.open({
    path: "/#/parse?id=1541815603606036522&layout=twitter",
    context: { permissions: ["clipboard-read", "clipboard-write"] },
  });
  const copy = async (button: Locator, text: string): Promise<void> => {
    await button.click();
    const clipboard = async (): Promise<unknown> => page.evaluate("navigator.clipboard.readText()");
    await expect.poll(clipboard, { timeout: 60_000 }).toBe(text);
  };
  for (const name of ["Text forms", "Time"]) {
    const rows = await page.getByRole("region", { name, exact: true }).getByRole("button").all();
    expect(rows.length).toBeGreaterThan(5);
    for (const row of rows) await copy(row, await row.locator("b").innerText());
  }
  await page.getByRole("link", { name: "Generate" }).click();
  await page.getByLabel("How many").fill("3");
  await page.getByRole("button", { name: "Generate" }).click();
  const ids = await page.getByRole("textbox", { name: "The IDs" }).inputValue();
  await copy(page.getByRole("button", { name: "Copy all", exact: true }), ids);
});

test("the same call from code names this server in every language, and the one for curl gets an ID", async () => {
  const page = await world.open();
  const code = page.getByRole("region", { name: "The same from code" });
  for (const [language, part] of [
    ["JavaScript", "await fetch"],
    ["Go", "package main"],
    ["Java", "public static void main"],
    ["Python", "import urllib.request"],
    ["curl", "curl -d"],
  ] as const) {
    await code.getByLabel("Language").selectOption({ label: language });
    await expect.poll(() => code.innerText(), { timeout: 60_000 }).toContain(part);
    expect(await code.innerText()).toContain(world.server().url);
  }
  const answer = await runCommand("bash", ["-c", await code.locator("pre").innerText()]);
  expect(JSON.parse(answer)).toMatchObject({ id: expect.stringMatching(/^\d{18,19}$/) });
});

test("the colours that are chosen stay after a reload", async () => {
  const page = await world.open({ context: { colorScheme: "light" } });
  const background = (): Promise<string> =>
    page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor");
  const light = await background();
  await page.getByRole("button", { name: "Dark" }).click();
  const dark = await background();
  expect(dark).not.toBe(light);
  await page.reload();
  await page.getByRole("main").waitFor();
  expect(await background()).toBe(dark);
  await page.getByRole("button", { name: "Auto" }).click();
  expect(await background()).toBe(light);
});

test("a link shows the same ID by the same layout, and its fragment never reaches the server", async () => {
  const context = { permissions: ["clipboard-read", "clipboard-write"] };
  const page = await world.open({ path: "/#/parse", context });
  await page.getByLabel("Layout").selectOption("custom");
  await page.getByLabel("Epoch, as a date").fill("2021-05-06");
  await page.getByLabel("Bits of datacenter").fill("0");
  await page.getByLabel("Bits of worker").fill("10");
  await page.getByRole("textbox", { name: "IDs" }).fill("123456789012345678");
  const before = await page.locator(hero).innerText();
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const link = String(await page.evaluate("navigator.clipboard.readText()"));
  const other = await world.open({ path: link.slice(world.server().url.length) });
  const asked: string[] = [];
  other.on("request", (request) => asked.push(request.url()));
  await other.reload();
  expect(await other.locator(hero).innerText()).toBe(before);
  expect(asked.filter((url) => url.includes("123456789012345678"))).toEqual(asked.filter((url) => url.includes("#")));
  expect(JSON.stringify(world.server().log)).not.toContain("123456789012345678");
});

test("a hundred megabytes pasted are read up to 10,000 lines, and the rest is named", async () => {
  const page = await world.open({ path: "/#/parse" });
  // 5,000,001 lines of 20 characters: the clipboard of a test cannot hold them, so the event does.
  await page.evaluate(`{
    const event = new Event("paste", { bubbles: true, cancelable: true });
    const text = "1541815603606036522\\n".repeat(5_000_001);
    event.clipboardData = { getData: () => text };
    document.body.dispatchEvent(event);
  }`);
  const said = (place: string): Promise<string> => page.locator(place).innerText();
  const patience = { timeout: 60_000, interval: 500 };
  await expect.poll(() => said('.lines [role="status"]'), patience).toBe("10,000 lines read.");
  expect(await said(".left-out")).toBe("The first 10,000 lines are read; 4,990,001 more lines are left out.");
});

test("a hundred megabytes in one line, pasted into the field, are cut to what an ID may have", async () => {
  const page = await world.open({ path: "/#/parse" });
  await page.evaluate(`{
    const event = new Event("paste", { bubbles: true, cancelable: true });
    const text = "1".repeat(100_000_000);
    event.clipboardData = { getData: () => text };
    document.querySelector("textarea").dispatchEvent(event);
  }`);
  const field = page.locator("textarea");
  await expect.poll(async () => (await field.inputValue()).length, { timeout: 60_000 }).toBe(1_000);
});

test("a browser that keeps nothing for the page changes its language and colours all the same", async () => {
  const page = await world.open();
  await page.addInitScript(`for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(globalThis, name, { get: () => { throw new DOMException("no", "SecurityError"); } });`);
  await page.reload();
  await page.getByRole("button", { name: "Dark" }).click();
  await page.getByRole("button", { name: "Kiswahili" }).click();
  await page.getByRole("link", { name: "Fuatilia" }).click();
  await page.locator(".chart canvas").nth(5).waitFor();
});

test("a clipboard that is refused is reported at its button", async () => {
  const page = await world.open({ path: "/#/parse?id=1541815603606036522" });
  await page.evaluate(`{
    navigator.clipboard.writeText = () => Promise.reject(new Error("no"));
    document.execCommand = () => false;
  }`);
  await page.getByRole("button", { name: /^decimal/ }).click();
  await page.getByRole("button", { name: /Not allowed/ }).waitFor();
});

test("UUIDs of others and texts of other generators tell what they say of themselves", async () => {
  const page = await world.open({ path: "/#/parse" });
  const box = page.getByRole("textbox", { name: "IDs" });
  for (const [text, title, time] of [
    ["c232ab00-9414-11ec-b3c8-9f6bdeced846", "UUID version 1", "22 February 2022, 19:22:22.000"],
    ["919108f7-52d1-4320-9bac-f847db4148a8", "UUID version 4", undefined],
    ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "A ULID", "30 July 2016, 23:54:10.259"],
    ["0ujtsYcgvSTl8PAuAdqWYSMnLOv", "A KSUID", "10 October 2017, 04:00:47.000"],
    ["507f1f77bcf86cd799439011", "An ObjectId", "17 October 2012, 21:13:27.000"],
    ["9m4e2mr0ui3e8a215n4g", "An xid", "22 March 2011, 17:50:19.000"],
    ["prefix_01h2xcejqtf2nbrexx3vqjhp41", "A TypeID", "14 June 2023, 16:40:03.066"],
  ] as const) {
    await box.fill(text);
    await page.getByRole("heading", { name: title, exact: true }).waitFor();
    if (time !== undefined) await page.getByText(time).waitFor();
  }
});

test("the fields of the strip are named by mouse, finger and arrow keys", async () => {
  const page = await world.open({ path: "/#/parse?id=1541815603606036522&layout=twitter" });
  const strip = page.getByRole("group", { name: "Bits of the ID" });
  const note = page.locator(".strip-note");
  await strip.getByRole("button", { name: "worker: bits 16 to 12, value 26" }).hover();
  expect(await note.innerText()).toBe("worker: bits 16 to 12, value 26");
  await strip.getByRole("button", { name: /^sequence/ }).click();
  expect(await note.innerText()).toBe("sequence: bits 11 to 0, value 42");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  expect(await note.innerText()).toBe("datacenter: bits 21 to 17, value 11");
  await page.keyboard.press("Home");
  expect(await note.innerText()).toBe("always 0: bit 63, value 0");
});

test("Watch finds a worker's host, and shows a hostile name as text", async () => {
  const store = join(mkdtempSync(join(tmpdir(), "snowlane-watch-")), "ids.db");
  onTestFinished(() => rmSync(dirname(store), { recursive: true, force: true }));
  const hostile = "<img/src=x/onerror=alert(1)>";
  const server = await world.startServer(["--store", `sqlite:${store}`, "--instance", "plain"]);
  await world.startServer(["--store", `sqlite:${store}`, "--instance", hostile]);
  const page = await world.open({ origin: server.url });
  await page.getByRole("link", { name: "Watch" }).click();
  await page.getByText("2 of 2 worker IDs that were ever held.").waitFor();
  await page.getByLabel("Find").fill("ONERROR");
  const row = page.getByRole("row").filter({ hasText: hostile });
  expect(await row.innerText()).toContain(hostname());
  expect(await page.getByRole("table").getByRole("row").count()).toBe(2);
  expect(await page.locator("main img").count()).toBe(0);
  await page.getByLabel("State").selectOption({ label: "released" });
  await page.getByText("0 of 2 worker IDs that were ever held.").waitFor();
});

test("Learn explains the ID of Parse by the layout that is chosen, and writes the program for it", async () => {
  const page = await world.open({ path: "/#/parse?id=1541815603606036522&layout=twitter" });
  const loaded = () =>
    page.evaluate("performance.getEntriesByType('resource').filter(({ name }) => name.includes('/learn-')).length");
  await page.getByText("made by worker 26").waitFor();
  // The view and its programs are a part of their own.
  expect(await loaded()).toBe(0);
  await page.getByRole("link", { name: "Learn" }).click();
  await page.getByRole("heading", { name: "The parts of 1541815603606036522" }).waitFor();
  expect(await loaded()).toBe(1);
  await page.getByRole("row", { name: "time 367597485448 × 2^22 1541815603604488192" }).waitFor();
  const life = page.getByRole("row", { name: /^Lasts until/ });
  expect(await life.innerText()).toContain("2080-07-10");
  const code = page.getByRole("group", { name: "Make and read these IDs in a program" });
  expect(await code.innerText()).toContain("EPOCH_MS = 1288834974657n");
  await page.getByLabel("Layout", { exact: true }).selectOption("sonyflake");
  await page.getByRole("row", { name: "IDs a second, each worker 25,600" }).waitFor();
  for (const language of sampleLanguages) {
    const [title, file] = sampleFiles[language];
    await page.getByLabel("Language", { exact: true }).selectOption({ label: title });
    const program = writeSample(readFileSync(`web/samples/${file}`, "utf8"), layouts.sonyflake);
    await expect.poll(() => code.textContent(), { timeout: 60_000 }).toBe(program);
  }
});

const widths = [
  ["desktop", 1280, 860],
  ["phone", 390, 844],
] as const;

test.each(widths)(
  "a newcomer on a %s makes an ID, reads a Discord ID and finds a host",
  async (_name, width, height) => {
    const page = await world.open({ context: { viewport: { width, height }, hasTouch: width < 500 } });
    const click = (role: "button" | "link", name: string) => page.getByRole(role, { name, exact: true }).click();
    await click("button", "In the browser");
    await click("button", "Change the epoch or the layout");
    await page.getByLabel("Epoch, as a date (UTC)").fill("2024-02-29");
    const made = await page.locator(`${hero}.id`).innerText();
    expect(Math.abs(Number(BigInt(made) >> 22n) + Date.UTC(2024, 1, 29) - Date.now())).toBeLessThan(120_000);
    await click("link", "Parse");
    await page.getByLabel("IDs").fill("175928847299117063");
    await page.getByLabel("Layout").selectOption({ label: "Discord, since 2015-01-01" });
    await page.getByText("30 April 2016, 11:18:25.796").waitFor();
    await page.getByText("worker 1, process 0, increment 7").waitFor();
    await click("link", "Watch");
    await page.getByLabel("Find").fill(hostname());
    await page.getByRole("row").filter({ hasText: "this server" }).getByText(hostname()).first().waitFor();
  },
);

test("an open tab goes on when the server is gone, says so, and finds it again", async () => {
  const server = await world.startServer();
  const page = await world.open({ origin: server.url, expected: /Failed to load resource|ERR_CONNECTION/ });
  await page.getByText("serving").waitFor();
  await server.stop("SIGTERM");
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByText("The server does not answer. Parse and Generate in the browser go on without it.").waitFor();
  await page.getByText("not reachable").waitFor();
  await page.getByRole("button", { name: "In the browser" }).click();
  await page.locator(`${hero}.id`).waitFor();
  await page.getByRole("button", { name: "Read it" }).click();
  await page.getByText("made by worker 0 of datacenter 0").waitFor();
  await world.startServer([], server.address);
  await page.getByText("serving").waitFor();
});

test("a page of another origin can neither frame this one nor call through it", async () => {
  const other = await world.startServer();
  const page = await world.open({
    origin: other.url,
    expected: /frame-ancestors|CSP|Content Security Policy|CORS|Failed to load|refused to connect|request: /,
  });
  const { url } = world.server();
  const answer = await page.evaluate(`fetch("${url}/snowlane.v1.IdService/NextId", {
    method: "POST", headers: { "content-type": "application/json" }, body: "{}" }).then(() => "answered", () => "refused")`);
  expect(answer).toBe("refused");
  await page.evaluate(`document.body.append(Object.assign(document.createElement("iframe"), { src: "${url}/" }))`);
  // A frame that is refused shows an error of the browser, which has no origin.
  await expect.poll(() => page.frames().at(-1)?.url(), { timeout: 60_000 }).toBe("chrome-error://chromewebdata/");
  expect(await page.frames().at(-1)!.getByRole("main").count()).toBe(0);
  const { headers } = await fetch(`${url}/`);
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});
