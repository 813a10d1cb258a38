import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { idRange } from "../../src/snowflake/id-range.ts";
import { layoutFieldKinds } from "../../src/snowflake/layout.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { fragmentMax } from "../../web/src/route.ts";
import { webWorld } from "../support/web/web-world.ts";

/** Parse as a workbench: whatever is pasted, its IDs are marked, read, and taken along. */

const world = webWorld();
const clipboard = { permissions: ["clipboard-read", "clipboard-write"] };

const openParse = (context = {}) => world.open({ path: "/#/parse", context: { ...clipboard, ...context } });
const box = (page: Page) => page.getByRole("textbox", { name: "Text with IDs" });
const copied = (page: Page): Promise<string> => page.evaluate("navigator.clipboard.readText()");

/** Pastes as a reader does: the focus is on no field. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.locator("h1").click();
  await page.keyboard.press("Control+V");
}

/** Waits until the text in the box was searched, and its lines were read. */
async function settled(page: Page): Promise<void> {
  await page.locator(".box[aria-busy=false] #found").getByText("found").waitFor();
}

const logLine =
  "2022-06-28T16:07:40.105Z INFO order 1541815603606036522 created, next 2126430205097679737 for joe@example.com";
const first = "1541815603606036522";
const second = 2_126_430_205_097_679_737n;

test("one paste and two presses copy the ISO time of the second ID of a log line", async () => {
  const page = await openParse();
  await paste(page, logLine);
  await page.getByRole("button", { name: String(second) }).click();
  await page.getByRole("button", { name: "ISO 8601" }).click();
  const iso = new Date(parseId(layouts.twitter, second).createTimeMs).toISOString();
  await expect.poll(() => copied(page)).toBe(iso);
});

test("the same by the keyboard alone", async () => {
  const page = await openParse();
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(logLine)})`);
  await page.keyboard.press("Control+V");
  await settled(page);
  const isFocused = (name: string): Promise<boolean> =>
    page
      .getByRole("button", { name })
      .first()
      .evaluate((element) => element.matches(":focus"));
  const tabTo = async (name: string): Promise<void> => {
    for (let presses = 0; presses < 60 && !(await isFocused(name)); presses++) await page.keyboard.press("Tab");
    await expect.poll(() => isFocused(name)).toBe(true);
  };
  await tabTo("1541815603606036522");
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => isFocused(String(second))).toBe(true);
  await tabTo("ISO 8601");
  await page.keyboard.press("Enter");
  const iso = new Date(parseId(layouts.twitter, second).createTimeMs).toISOString();
  await expect.poll(() => copied(page)).toBe(iso);
});

test("every text of the corpus is marked to the character", async () => {
  const page = await openParse();
  await page.clock.setFixedTime(Date.UTC(2026, 10, 27));
  await page.getByLabel("Layout").selectOption("twitter");
  const rows = readFileSync("test/vectors/find-ids.tsv", "utf8")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split("\t").map((cell, index) => (index === 0 ? cell : JSON.parse(cell))));
  expect(rows.length).toBeGreaterThan(120);
  const marked = await page.evaluate(`(async () => {
    const box = document.querySelector(".box");
    const field = box.querySelector("textarea");
    const found = [];
    for (const text of ${JSON.stringify(rows.map(([, text]) => text))}) {
      field.value = text;
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      for (let turns = 0; turns < 1000; turns++) {
        await new Promise((resolve) => setTimeout(resolve));
        if (box.getAttribute("aria-busy") === "false") break;
      }
      let at = 0;
      const marks = [];
      for (const node of box.querySelector("pre").childNodes) {
        const { length } = node.nodeType === Node.COMMENT_NODE ? "" : node.textContent;
        if (node.nodeName === "MARK") marks.push([node.dataset.kind, at, at + length]);
        at += length;
      }
      found.push(marks);
    }
    return found;
  })()`);
  expect((marked as unknown[]).map((marks, index) => [rows[index]![1], marks])).toEqual(
    rows.map(([, text, answers]) => [text, answers]),
  );
});

test("the marks lie under the letters: field and copy have one font, one width and one height", async () => {
  const page = await openParse();
  for (const text of [logLine, `${logLine}\n`.repeat(40), `${"1541815603606036522,".repeat(60)}\t\n\n x`]) {
    await box(page).fill(text);
    await settled(page);
    const layers = (await page.evaluate(`[...document.querySelectorAll(".box .area > *")].map((layer) => {
      const { font, letterSpacing, padding, whiteSpace, overflowWrap, tabSize } = getComputedStyle(layer);
      const { clientWidth, scrollHeight } = layer;
      return { font, letterSpacing, padding, whiteSpace, overflowWrap, tabSize, clientWidth, scrollHeight };
    })`)) as readonly unknown[];
    expect(layers).toHaveLength(2);
    expect(layers[0]).toEqual(layers[1]);
  }
});

test("a press into a mark shows its ID", async () => {
  const page = await openParse();
  await box(page).fill(logLine);
  await settled(page);
  const mark = await page.locator(".box mark").nth(1).boundingBox();
  await page.mouse.click(mark!.x + mark!.width / 2, mark!.y + mark!.height / 2);
  await expect.poll(() => page.locator(".found [aria-current]").innerText()).toContain(String(second));
  await expect.poll(() => page.locator("mark.on").innerText()).toBe(String(second));
});

test("Enter copies the ID that has the focus in what was found, and the row says so", async () => {
  const page = await openParse();
  await box(page).fill(logLine);
  await settled(page);
  const rows = page.locator(".found .find");
  await rows.first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await rows.nth(1).getByText("Copied").waitFor();
  expect(await copied(page)).toBe(String(second));
  expect(await page.locator(".found [role=status]").innerText()).toBe("Copied");
});

test("an ID that is left out is gone from the marks, the list and the address, until it is taken back", async () => {
  const page = await openParse();
  const third = second + (5_000n << 22n);
  await box(page).fill(`${logLine}\n${third} done`);
  await page.getByText("3 IDs found").waitFor();
  const texts = (place: string): Promise<readonly string[]> => page.locator(place).allInnerTexts();
  await page.getByRole("button", { name: "Leave out number 2" }).click();
  await page.getByText("2 IDs found").waitFor();
  await expect.poll(() => texts(".box mark.id")).toEqual([first, String(third)]);
  expect(await texts(".found .id")).toEqual([first, String(third)]);
  await expect.poll(() => texts('.piece [role="cell"].v')).toEqual([first, String(third)]);
  await expect.poll(() => page.evaluate("location.hash")).toBe(`#/parse?id=${first}%0A${third}`);
  // Another layout reads the others again, and a link has only those.
  await page.getByLabel("Layout").selectOption("discord");
  await page.getByText("2 lines read.").waitFor();
  expect(await texts(".found .id")).toEqual([first, String(third)]);
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect.poll(() => copied(page)).toMatch(/#\/parse\?id=\d+%0A\d+&layout=discord$/);
  await page.getByRole("button", { name: "1 left out: take it back" }).click();
  await page.getByText("3 IDs found").waitFor();
  await expect.poll(() => texts(".found .id")).toEqual([first, String(second), String(third)]);
  expect(await box(page).inputValue()).toContain("joe@example.com");
});

test("Delete leaves IDs out by the keyboard, and the focus goes to the row that follows", async () => {
  const page = await openParse();
  await box(page).fill(logLine);
  await settled(page);
  const rows = page.locator(".found .find");
  await rows.first().focus();
  await page.keyboard.press("Delete");
  await expect.poll(() => rows.count()).toBe(1);
  expect(await rows.first().evaluate((row) => row.matches(":focus"))).toBe(true);
  await expect.poll(() => page.locator(".found [aria-current]").innerText()).toContain(String(second));
  await page.keyboard.press("Delete");
  await expect.poll(() => rows.count()).toBe(0);
  await page.keyboard.press("Enter");
  await page.getByText("2 IDs found").waitFor();
});

test("a file that is dropped into the box is read like a paste", async () => {
  const page = await openParse();
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(logLine)}], "server.log", { type: "text/plain" }));
    document.querySelector("textarea").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }`);
  await page.getByText("2 IDs found").waitFor();
  expect(await box(page).inputValue()).toBe(logLine);
});

test("each ID is read by the layout that its text names, else by the likeliest, with the reason", async () => {
  const page = await openParse();
  await box(page).fill("1541815603606036522 by <@175928847299117063>");
  const why = page.locator(".guess small");
  await expect.poll(() => why.innerText()).toMatch(/^Best guess: /);
  await page.getByText("made by worker 26 of datacenter 11").waitFor();
  await page.getByRole("button", { name: "175928847299117063" }).click();
  await page.getByText("worker 1, process 0, increment 7").waitFor();
  expect(await why.innerText()).toBe("Best guess: the text names the system.");
  // One press reads all IDs by one layout, and another goes back.
  await page.getByRole("radio", { name: "Twitter" }).check();
  await page.getByText("made by worker 0 of datacenter 1, sequence 7").waitFor();
  expect(await why.innerText()).toBe("Your choice for all IDs of the text.");
  await page.getByRole("button", { name: "Read each ID by its best guess" }).click();
  await page.getByText("worker 1, process 0, increment 7").waitFor();
});

test("local, UTC, ISO and Unix times are shown in rows, in the reader's zone of that day", async () => {
  const page = await openParse({ timezoneId: "America/New_York" });
  await box(page).fill("1541815603606036522");
  const card = page.getByRole("region", { name: "Time", exact: true });
  for (const row of [
    "Local 2022-06-28 12:07:40.105 -04:00",
    "UTC 2022-06-28 16:07:40.105",
    "ISO 8601 2022-06-28T16:07:40.105Z",
    "Unix ms 1656432460105",
    "Unix s 1656432460",
    "Since epoch 367597485448",
  ])
    await card.getByRole("button", { name: row }).waitFor();
});

test("PAGE 19: where the reader's zone is UTC, the time is said once", async () => {
  const page = await openParse({ timezoneId: "UTC" });
  await box(page).fill("1541815603606036522");
  await page.getByText("made by worker 26").waitFor();
  expect(await page.locator(".when").innerText()).not.toContain("where you are");
});

test("PAGE 23: the IDs of the same minute, hour and day are a query, with the name of the column", async () => {
  const page = await openParse();
  await box(page).fill("1541815603606036522");
  const card = page.getByRole("region", { name: "IDs of the same" });
  for (const [unit, from, to] of [
    ["minute", "2022-06-28T16:07:00Z", "2022-06-28T16:08:00Z"],
    ["day", "2022-06-28T00:00:00Z", "2022-06-29T00:00:00Z"],
    ["hour", "2022-06-28T16:00:00Z", "2022-06-28T17:00:00Z"],
  ] as const) {
    await card.getByRole("button", { name: unit }).click();
    const ns = (time: string): bigint => BigInt(Date.parse(time)) * 1_000_000n;
    const { firstId, lastId } = idRange(layouts.twitter, ns(from), ns(to));
    await expect.poll(() => card.locator("pre").innerText()).toBe(`WHERE id BETWEEN ${firstId} AND ${lastId}`);
  }
  await card.getByLabel("Column").fill('orders."; DROP TABLE x');
  await card.getByRole("button", { name: "Copy the query" }).click();
  await expect.poll(() => copied(page)).toMatch(/^WHERE "orders\.""; DROP TABLE x" BETWEEN \d+ AND \d+$/);
});

test("PAGE 24: two IDs show the time, the fields and the number between them", async () => {
  const page = await openParse();
  await box(page).fill(`1541815603606036522 ${1_541_815_603_606_036_522n + (90_000n << 22n)}`);
  await settled(page);
  const card = page.getByRole("region", { name: "Difference" });
  await card.getByText("1 minute and 30 seconds (90,000 ms) later").waitFor();
  await card.getByText("datacenter 11, worker 26, sequence 42").waitFor();
  await card.getByText("+377487360000").waitFor();
});

test("PAGE 25: the parts of a UUID and of a ULID are copied by a press", async () => {
  const page = await openParse();
  for (const [text, label, value] of [
    ["c232ab00-9414-11ec-b3c8-9f6bdeced846", "Clock sequence", "13256"],
    ["c232ab00-9414-11ec-b3c8-9f6bdeced846", "Node", "9f:6b:de:ce:d8:46"],
    ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "random", "d6764c61efb99302bd5b"],
  ] as const) {
    await box(page).fill("");
    await box(page).fill(text);
    const row = page.locator(".stranger").getByRole("button", { name: label });
    await row.waitFor();
    const shown = await row.locator("b").innerText();
    await row.click();
    await expect.poll(() => copied(page)).toBe(shown);
    expect([label, shown]).toEqual([label, value]);
  }
});

test("PAGE 25: a text that names no time, as of nanoid, cuid and Firebase, is said to hold no ID", async () => {
  const page = await openParse();
  for (const text of ["V1StGXR8_Z5jdHi6B-myT", "cjld2cjxh0000qzrmn831i7rn", "-JhLeOlGIEjaIOFHR0xd"]) {
    await box(page).fill(text);
    const result = page.getByRole("region", { name: "Result" });
    await expect.poll(() => result.innerText()).toContain("This is not an ID");
    expect([text, await page.locator(".box mark").count()]).toEqual([text, 0]);
  }
});

test("PAGE 25: a number with bit 63 set is shown signed, unsigned and in hex", async () => {
  const page = await openParse();
  await box(page).fill("-6883128403432964096");
  const card = page.getByRole("region", { name: "All 64 bits" });
  for (const row of ["signed -6883128403432964096", "unsigned 11563615670276587520", "hex 0xa07a"])
    await card.getByRole("button", { name: row }).waitFor();
  await page.getByText("Bit 63 is set").waitFor();
});

test("a rounded number says what is lost, a padded one what was left out, and a Unix time is copied", async () => {
  const page = await openParse();
  await box(page).fill("excel: 1.54181560360604E+18");
  await page.getByText("The time is right; the worker may be off, the sequence is lost.").waitFor();
  await box(page).fill("00000001541815603606036480");
  await page.getByText("The number has leading zeros.").waitFor();
  await box(page).fill("ts=1656432460105");
  await page.getByText("The text has a Unix time: 2022-06-28T16:07:40.105Z.").waitFor();
  await page.getByRole("button", { name: "ISO 8601" }).click();
  await expect.poll(() => copied(page)).toBe("2022-06-28T16:07:40.105Z");
});

test("PAGE 13: the address has the IDs that were found, never the text, and a reload shows them again", async () => {
  const page = await openParse();
  await box(page).fill(logLine);
  await settled(page);
  await page.getByRole("button", { name: String(second) }).click();
  const fragment = `#/parse?id=1541815603606036522%0A${second}&at=2`;
  await expect.poll(() => page.evaluate("location.hash")).toBe(fragment);
  const entries = await page.evaluate("history.length");
  await page.reload();
  await page.locator(".found [aria-current]").getByText(String(second)).waitFor();
  expect(await box(page).inputValue()).toBe(`1541815603606036522\n${second}`);
  expect(await page.evaluate("history.length")).toBe(entries);
  // A number that is not an ID stays out of it: it may be a card's.
  await box(page).fill("card 4111111111111111, joe@example.com");
  await expect.poll(() => page.evaluate("location.hash")).toBe("#/parse");
});

test("a step back to the address that the page wrote leaves the text as it was pasted", async () => {
  const page = await openParse();
  await box(page).fill(logLine);
  await settled(page);
  await expect.poll(() => page.evaluate("location.hash")).toContain("id=");
  await page.getByRole("link", { name: "Learn" }).click();
  await page.getByRole("heading", { level: 1 }).getByText("How an ID works").waitFor();
  await page.goBack();
  await expect.poll(() => box(page).inputValue()).toBe(logLine);
});

test("an address and a link are never longer than their bound", async () => {
  const page = await openParse();
  const ids = Array.from({ length: 300 }, (_, index) =>
    String(1_541_815_603_606_036_522n + BigInt(index) * 4_194_304n),
  );
  await paste(page, ids.join("\n"));
  await page.getByText("300 lines read.").waitFor();
  await expect.poll(() => page.evaluate("location.hash")).toBe(`#/parse?id=${ids[0]}`);
  expect(await page.getByRole("button", { name: "Too long for a link" }).isDisabled()).toBe(true);
  await box(page).fill(ids.slice(0, 40).join("\n"));
  await page.getByText("40 lines read.").waitFor();
  await expect.poll(() => page.evaluate("location.hash.length")).toBeGreaterThan(800);
  expect(Number(await page.evaluate("location.hash.length"))).toBeLessThanOrEqual(fragmentMax);
});

test("the strip of bits is one line at 700 px and above, in every language", async () => {
  const page = await world.open({ path: "/#/parse?id=1541815603606036522&layout=twitter" });
  for (const language of ["English", "中文", "Kiswahili"]) {
    await page.getByRole("button", { name: language }).click();
    for (const width of [701, 768, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const fields = await page.locator(".bits .f").evaluateAll((all) =>
        all.map((field) => {
          const { top, left, right } = field.getBoundingClientRect();
          const bits = [...field.querySelectorAll(".b i")].map((bit) => bit.getBoundingClientRect());
          return {
            top,
            bitTops: bits.map((bit) => bit.top),
            outside: bits.filter((bit) => bit.left < left - 0.5 || bit.right > right + 0.5).length,
          };
        }),
      );
      expect(fields).toHaveLength(1 + layoutFieldKinds.length);
      const lines = [fields.map(({ top }) => top), fields.flatMap(({ bitTops }) => bitTops)];
      const outside = fields.map((field) => field.outside);
      expect([language, width, lines.map((tops) => new Set(tops).size), outside]).toEqual([
        language,
        width,
        [1, 1],
        [0, 0, 0, 0, 0],
      ]);
    }
  }
});

test("hostile text stays text: in the box, a filter, a column and the address", async () => {
  const hostile = `"><img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`;
  const page = await world.open({
    path: `/#/parse?id=${encodeURIComponent(`${hostile}\n1541815603606036522`)}&at=${encodeURIComponent(hostile)}`,
  });
  await page.getByText("made by worker 26").waitFor();
  await box(page).fill(`${hostile} 1541815603606036522\nuser_01h2xcejqtf2nbrexx3vqjhp41 ${second} ${hostile}`);
  await settled(page);
  await page.getByText("2 lines read.").waitFor();
  await page.getByLabel("Filter").fill(hostile);
  await page.getByLabel("Column").fill(hostile);
  await expect.poll(() => page.locator(".query").innerText()).toContain("<img");
  expect(await page.locator("#page img, #page script").count()).toBe(0);
  expect(await page.title()).toBe("Parse an ID · Snowlane");
});
