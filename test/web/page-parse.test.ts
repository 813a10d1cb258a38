import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseId } from "../../src/snowflake/parse.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { webWorld } from "../support/web/web-world.ts";

/** What Parse says of a text: an ID of any layout, of any generator, one of many thousands, or none. */

const world = webWorld();

const hero = ".when";

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
  // What the search passes over, and strict reading takes, is not said to be "0 IDs".
  await box.fill("9007199254740993");
  await page.getByRole("status").getByText("Read as one ID").waitFor();
  await box.fill("Hello, world 12");
  await page.getByText("The page looks for numbers of 14 to 19 digits").waitFor();
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
  await expect.poll(async () => (await field.inputValue()).length).toBe(1_000);
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
  await expect.poll(() => note.innerText()).toBe("sequence: bits 11 to 0, value 42");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => note.innerText()).toBe("datacenter: bits 21 to 17, value 11");
  await page.keyboard.press("Home");
  await expect.poll(() => note.innerText()).toBe("always 0: bit 63, value 0");
});
