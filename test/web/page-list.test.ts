import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { composeId, msToTicksDown } from "../../src/snowflake/layout.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { webWorld } from "../support/web/web-world.ts";

/** A list of IDs on Parse: what it says as a whole, and how its rows are found. */

const world = webWorld();

const openParse = () => world.open({ path: "/#/parse" });
const box = (page: Page) => page.getByRole("textbox", { name: "Text with IDs" });

/** Whether all of the time of the ID that is shown is in sight. */
const isInSight = `(() => {
  const { top, bottom } = document.querySelector(".answers .when").getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
})()`;

/** IDs of two workers at given times, in milliseconds after a full minute. */
function listOf(rows: readonly (readonly [worker: number, atMs: number])[]): readonly string[] {
  const startMs = Date.UTC(2026, 10, 20, 14, 3);
  return rows.map(([workerId, atMs], sequence) =>
    String(
      composeId(layouts.twitter, {
        ticks: msToTicksDown(layouts.twitter, startMs + atMs),
        datacenterId: 11,
        workerId,
        sequence,
      }),
    ),
  );
}

test("PAGE 24: a list shows duplicates, order breaks, rate, gap and workers, and is sorted and filtered", async () => {
  const page = await openParse();
  const ids = [
    ...listOf([
      [3, 0],
      [7, 1_000],
      [3, 2_000],
      [7, 2_500],
      [7, 60_000],
      [3, 40_000],
      [3, 61_000],
    ]),
  ];
  ids.push(ids[1]!);
  await box(page).fill(ids.join("\n"));
  await page.getByText("8 lines read.").waitFor();
  const figures = page.locator(".stats");
  for (const said of [
    /IDs\s+8\s*7 different/,
    /Duplicates\s+1/,
    /Order breaks\s+1\s*by up to 20 s/,
    /Longest gap\s+37\.5 s/,
  ])
    await expect.poll(() => figures.innerText()).toMatch(said);
  const firsts = (): Promise<readonly string[]> => page.locator('.piece [role="cell"]:first-child').allInnerTexts();
  await page.getByRole("button", { name: "Only odd ones (2)" }).click();
  await expect.poll(firsts).toEqual(["5", "6", "7", "8"]);
  await page.getByRole("group", { name: "Rows" }).getByRole("button", { name: "All" }).click();
  await page.getByRole("button", { name: "Worker 11 / 7" }).click();
  await expect.poll(firsts).toEqual(["2", "4", "5", "8"]);
  await page.getByRole("button", { name: "Time (UTC)" }).click();
  await expect.poll(firsts).toEqual(["2", "8", "4", "5"]);
  await page.getByRole("button", { name: "Time (UTC)" }).click();
  await expect.poll(firsts).toEqual(["5", "4", "2", "8"]);
  await page.getByLabel("Filter").fill(ids[2]!.slice(2));
  await expect.poll(firsts).toEqual(["3"]);
  await page.locator("[data-at]").click();
  await expect.poll(() => page.locator(".found [aria-current]").innerText()).toContain(ids[2]!);
});

test("a press on a row of a long list brings its ID into sight, and the list stays where it is", async () => {
  const page = await openParse();
  const ids = listOf(Array.from({ length: 300 }, (_, index) => [index % 5, index * 1_000] as const));
  await box(page).fill(ids.join("\n"));
  await page.getByText("300 lines read.").waitFor();
  const row = page.locator("[data-at='250']");
  await row.click();
  await page.locator(".answer").getByText("sequence 250").waitFor();
  await expect.poll(() => page.evaluate(isInSight)).toBe(true);
  const table = page.getByRole("table", { name: "IDs" });
  expect(await table.evaluate(({ clientHeight }) => clientHeight)).toBeLessThan(page.viewportSize()!.height);
  expect(await table.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0);
});

test("each ID of one long line is a row, as of JSON", async () => {
  const page = await openParse();
  const ids = listOf(Array.from({ length: 300 }, (_, index) => [index % 5, index * 1_000] as const));
  await box(page).fill(JSON.stringify(ids.map((id) => ({ id, name: "nobody" }))));
  await page.getByText("300 IDs found").waitFor();
  await page.getByText("1 line read.").waitFor();
  await expect.poll(() => page.locator(".stats").innerText()).toMatch(/IDs\s+300\s*300 different/);
  await page.locator("[data-at='299']").click();
  await page.locator(".answer").getByText("sequence 299").waitFor();
});

test("of a line with thousands of IDs the box shows and marks the start alone, and all of them are listed", async () => {
  const page = await openParse();
  const ids = listOf(Array.from({ length: 3_000 }, (_, index) => [index % 5, index * 10] as const));
  await box(page).fill(JSON.stringify(ids));
  await page.getByText("Only the start of the text is shown here; all of it is in the table.").waitFor();
  await expect.poll(() => page.locator('[role="rowgroup"] [role="row"]').count()).toBe(3_000);
  expect(await page.locator("pre mark").count()).toBeLessThanOrEqual(1_000);
});

test("10,000 rows are sorted in pieces: each frame adds 500 of them", async () => {
  const page = await openParse();
  const ids = listOf(Array.from({ length: 10_000 }, (_, index) => [index % 5, index * 10] as const));
  await page.evaluate(`{
    const data = new DataTransfer();
    data.setData("text/plain", ${JSON.stringify(ids.join("\n"))});
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }`);
  await expect.poll(() => page.locator('.lines [role="status"]').innerText()).toBe("10,000 lines read.");
  const counts = (await page.evaluate(`(async () => {
    const counts = [];
    const table = document.querySelector('[role="table"]');
    new MutationObserver(() => counts.push(table.querySelectorAll(".piece > *").length)).observe(table, { childList: true });
    [...document.querySelectorAll(".sort")].find((button) => button.textContent === "Sequence").click();
    for (let turns = 0; turns < 2000 && counts.at(-1) !== 10000; turns++) await new Promise(requestAnimationFrame);
    return counts;
  })()`)) as readonly number[];
  expect(counts[0]).toBe(500);
  expect(counts.at(-1)).toBe(10_000);
  const steps = counts.slice(1).map((count, index) => count - counts[index]!);
  expect(Math.max(...steps)).toBeLessThanOrEqual(500);
});

test("a press on the timeline shows that part of it larger, with its rows alone, and another shows all again", async () => {
  const page = await openParse();
  const minutes = Array.from({ length: 20 }, (_, index) => [3 + (index % 2) * 4, index * 60_000] as const);
  await box(page).fill([...listOf(minutes), ...listOf([[7, 61_500]])].join("\n"));
  await page.getByText("21 lines read.").waitFor();
  const firsts = (): Promise<readonly string[]> => page.locator('.piece [role="cell"]:first-child').allInnerTexts();
  const parts = page.locator(".zoom button");
  // 19 minutes in ten parts: the first holds the rows of minute 0 and 1, and the one that came last.
  await page.getByRole("button", { name: "14:03:00 to 14:04:53: 3 IDs" }).click();
  await expect.poll(firsts).toEqual(["1", "2", "21"]);
  await page.getByText("Shown here and in the table: 14:03:00 to 14:04:53 (UTC).").waitFor();
  expect(await page.locator(".timeline .bar").count()).toBe(3);
  // A part of the part, by the keyboard: one stop of Tab, then the arrow keys. An empty part stays as it is.
  await parts.first().focus();
  for (let presses = 0; presses < 5; presses++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expect.poll(firsts).toEqual(["2", "21"]);
  await page.getByRole("button", { name: "Show the whole time" }).click();
  await expect.poll(async () => (await firsts()).length).toBe(21);
  expect(await parts.evaluateAll((all) => all.map((one) => one.getAttribute("tabindex")))).toEqual([
    "0",
    ...Array(9).fill("-1"),
  ]);
  await page.getByText("Press on a part of the time to see it larger.").waitFor();
});
