import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { webWorld } from "../support/web/web-world.ts";

/** Nothing is cut off, broken or too small to read, at any width and in any language. */

const world = webWorld();
/** Also of windows of 1,440 and 1,024 px at a zoom of 200 %. */
const widths = [390, 512, 720, 768, 900, 1024, 1440];
const languages = { en: "English", zh: "中文", sw: "Kiswahili" } as const;

/** IDs of three kinds, one of them twice: with bits, cards, a difference and a list. */
const log = `order 1541815603606036522 by <@175928847299117063>, then 1541815603606036523 and 1541815603606036522
excel 1.54181560360604E+18, 0181ab11-8149-75e8-82af-cd06cf6470a3`;

const views: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  parse: async (page) => {
    await page.locator("textarea").first().fill(log);
    await page.locator(".timeline svg").waitFor();
  },
  generate: async (page) => {
    await page.locator("button.primary").click();
    await page.locator(".when.id").waitFor();
    await page.locator("button.primary").click();
    await page.locator(".rows tbody tr").first().waitFor();
  },
  hand: async (page) => {
    await page.locator(".view-head .switch button").nth(1).click();
    await page.locator(".when.id").waitFor();
  },
  learn: (page) => page.locator("pre").first().waitFor(),
  watch: (page) => page.locator(".chart canvas").nth(5).waitFor(),
  proof: (page) => page.locator(".story li").nth(5).waitFor(),
};
const addresses: Readonly<Record<string, string>> = {
  hand: "generate",
  proof: "proof?seed=11&rule=no-floor&f=wipe.4000.2",
};

/** Finds what a reader would stumble over. Texts that the reader wrote, and code, may be folded anywhere. */
const findFaults = `(() => {
  const found = [];
  const inSight = (element) => element.getClientRects().length > 0 && !element.closest("details:not([open]), .spoken");
  const linesOf = (range) => new Set([...range.getClientRects()].filter(({ width }) => width > 1).map(({ top }) => Math.round(top))).size;
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = words.nextNode(); node; node = words.nextNode()) {
    if (!inSight(node.parentElement) || node.parentElement.closest(".area, pre, svg, script, select")) continue;
    for (const { 0: digits, index } of node.textContent.matchAll(/\\d{4,}/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + digits.length);
      if (linesOf(range) > 1) found.push("a number in two lines: " + digits);
    }
  }
  for (const select of [...document.querySelectorAll("select")].filter(inSight)) {
    const [chosen] = select.selectedOptions;
    const free = select.cloneNode();
    free.append(new Option(chosen.text));
    free.style.cssText = "position: absolute; left: 0; width: auto; max-width: none; visibility: hidden";
    select.after(free);
    const wanted = free.getBoundingClientRect().width;
    free.remove();
    if (wanted > select.getBoundingClientRect().width + 1) found.push("a choice that is cut: " + chosen.text);
  }
  for (const button of [...document.querySelectorAll(".switch button, .story button, .box-foot button")].filter(inSight)) {
    const range = document.createRange();
    range.selectNodeContents(button);
    if (linesOf(range) > 1) found.push("a button of two lines: " + button.textContent);
  }
  for (const text of document.querySelectorAll(".timeline svg text")) {
    const pixels = parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
    if (pixels < 9.5) found.push("small words: " + text.textContent + " " + pixels);
  }
  const names = [...document.querySelectorAll(".timeline .lane-name")];
  const right = Math.max(0, ...names.map((name) => name.getBoundingClientRect().right));
  const zoom = document.querySelector(".zoom");
  if (zoom !== null && right > zoom.getBoundingClientRect().left) found.push("the name of a worker over its IDs");
  const pairs = document.querySelector(".shown .buttons")?.querySelectorAll("button") ?? [];
  if (new Set([...pairs].map((button) => Math.round(button.getBoundingClientRect().top))).size > 1)
    found.push("the buttons of an ID below each other");
  return [...new Set(found)];
})()`;

test.each(Object.entries(languages))(
  "in %s no number is broken, no choice is cut and no word is too small, at every width",
  async (_, language) => {
    const page = await world.open({ path: "/#/parse", context: { timezoneId: "Africa/Nairobi" } });
    await page.getByRole("button", { name: language }).click();
    await page.locator(`.foot [aria-pressed="true"]`, { hasText: language }).waitFor();
    for (const [name, show] of Object.entries(views)) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(`${world.server().url}/#/${addresses[name] ?? name}`);
      await show(page);
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        expect([name, width, await page.evaluate(findFaults)]).toEqual([name, width, []]);
      }
    }
  },
);
