import { readFileSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { placeholder, repositoryAddress } from "../../tools/repository-address.ts";
import { wantsTraditional } from "../../web/src/language.ts";
import { links, linksOf } from "../../web/src/links.ts";
import { en } from "../../web/src/texts/en.ts";
import { socialCard, socialWords } from "../support/web/social-card.ts";
import { webWorld } from "../support/web/web-world.ts";

/** What the page says of itself: to newcomers, to those who share it, on paper, and in Windows' high contrast. */

const world = webWorld();
const shownId = "1541815603606036522";

test("PAGE 22: the first screen says what Snowlane is, and links to what there is", async () => {
  const page = await world.open();
  const sentence = page.getByText("Snowlane is a service that hands out unique, time-sorted 64-bit IDs.");
  const { y = 1e9, height = 0 } = (await sentence.boundingBox()) ?? {};
  expect(y + height).toBeLessThan(430);
  for (const link of await page.locator(".links a").all()) {
    const href = (await link.getAttribute("href"))!;
    if (!href.startsWith("https:")) expect((await page.request.get(new URL(href, page.url()).href)).status()).toBe(200);
  }
  await page.getByRole("link", { name: "How such an ID works" }).click();
  await page.getByRole("heading", { name: "How an ID works" }).waitFor();
});

test("all links of the project come from one table, and without an address of a repository none leads into it", () => {
  const address = repositoryAddress(".");
  expect(links).toEqual(linksOf(address === placeholder ? undefined : address));
  expect(linksOf(undefined).map(({ name }) => name)).toEqual(["api", "licence"]);
  expect(linksOf("https://example.com/snowlane").map(({ href }) => href)).toEqual([
    "https://example.com/snowlane/blob/main/docs/README.md",
    "./openapi.json",
    "https://example.com/snowlane",
    "https://example.com/snowlane/blob/main/CHANGELOG.md",
    "https://www.apache.org/licenses/LICENSE-2.0",
  ]);
});

test("PAGE 26: a shared link shows a title and a sentence, before any script runs", async () => {
  const page = await world.open();
  const html = await (await page.request.get(world.server().url)).text();
  const meta = (name: string): string =>
    new RegExp(`(?:name|property)="${name}" content="([^"]+)"`).exec(html)?.[1] ?? "";
  expect(/<title>([^<]+)<\/title>/.exec(html)?.[1]).toContain("Snowlane");
  expect(meta("description")).toBe(en.about.sentence);
  for (const name of ["og:title", "og:description", "og:site_name", "og:type"])
    expect([name, meta(name) !== ""]).toEqual([name, true]);
});

test("the picture of a shared link has the words of the page: DOCS_PICTURE=write renews it", async () => {
  if (process.env["DOCS_PICTURE"] === "write") {
    const page = await world.open();
    const context = await page
      .context()
      .browser()!
      .newContext({ viewport: { width: 1_200, height: 630 } });
    onTestFinished(() => context.close());
    const card = await context.newPage();
    await card.setContent(socialCard());
    writeFileSync("web/social.png", await card.screenshot());
    writeFileSync("web/social.txt", `${socialWords.join("\n")}\n`);
  }
  expect(`${socialWords.join("\n")}\n`).toBe(readFileSync("web/social.txt", "utf8"));
  const bytes = readFileSync("web/social.png");
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1_200, 630]);
});

test("the first load takes at most four requests: further parts come when they are wanted", async () => {
  const page = await world.open({ path: "/#/parse" });
  const html = await (await page.request.get(world.server().url)).text();
  const asked = [...html.matchAll(/(?:rel="(?:stylesheet|modulepreload)" href|<script type="module" src)="([^"]+)"/g)];
  expect(asked.length + 1).toBeLessThanOrEqual(4);
  const imports = await page.evaluate(
    `performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)
      .filter((path) => path.endsWith(".js") && !/\\/(?:server|finder|found|list)-/.test(path))`,
  );
  expect((imports as string[]).toSorted()).toEqual(
    asked
      .map(([, path]) => path!.replace(/^\./, ""))
      .filter((path) => path.endsWith(".js"))
      .toSorted(),
  );
});

async function style(page: Page, selector: string, property: string, pseudo = ""): Promise<unknown> {
  const all = JSON.stringify(selector);
  return page.evaluate(
    `[...document.querySelectorAll(${all})].map((one) => getComputedStyle(one${pseudo === "" ? "" : `, "${pseudo}"`})["${property}"])`,
  );
}

test("on paper is what is on the screen, without controls, and no code is cut", async () => {
  const page = await world.open({ path: "/#/learn", context: { colorScheme: "dark" } });
  await page.locator("pre").first().waitFor();
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  expect(await style(page, "nav.tabs, .switch", "display")).not.toContain("flex");
  const cut = await page
    .locator("pre")
    .evaluateAll((all) => all.filter((one) => one.scrollHeight > one.clientHeight + 1).length);
  expect(cut).toBe(0);
  // Ink is dark, and paper is white.
  expect(await style(page, "html", "backgroundColor")).toEqual(["rgb(255, 255, 255)"]);
  await page.screenshot({ path: ".pictures/learn-print.png", fullPage: true });
});

test("on paper are all IDs that were found, with the times and the forms of the one that is shown", async () => {
  const page = await world.open({ path: "/#/parse", context: { viewport: { width: 1000, height: 700 } } });
  const ids = Array.from({ length: 16 }, (_, index) => String(1_541_815_603_606_036_522n + BigInt(index) * 4_194_304n));
  await page.getByRole("textbox", { name: "Text with IDs" }).fill(ids.join("\n"));
  await expect.poll(() => page.locator(".found .find").count()).toBe(ids.length);
  await page.emulateMedia({ media: "print" });
  const paper = page.getByRole("main");
  for (const id of ids) expect(await page.locator(".found .find").getByText(id).isVisible()).toBe(true);
  expect(await page.locator(".found ul").evaluate((list) => list.scrollHeight - list.clientHeight)).toBe(0);
  for (const said of ["2022-06-28T16:07:40.105Z", "0x1565a11f6217a02a"])
    expect(await paper.innerText()).toContain(said);
  for (const control of await page.locator(".leave, .clear, .csv, .options select, .list-controls input").all())
    expect(await control.isVisible()).toBe(false);
  await page.screenshot({ path: ".pictures/parse-print.png", fullPage: true });
});

test("in high contrast the current tab, the state of the server and each bit can be recognized", async () => {
  const page = await world.open({ path: `/#/parse?id=${shownId}`, context: { forcedColors: "active" } });
  await page.locator(".bits .b").first().waitFor();
  const outlines = (await style(page, "nav.tabs a", "outlineStyle")) as string[];
  expect(outlines.filter((outline) => outline === "solid")).toHaveLength(1);
  expect(await style(page, 'nav.tabs a[aria-current="page"]', "outlineStyle")).toEqual(["solid"]);
  expect(new Set((await style(page, "nav.tabs a", "borderBottomStyle")) as string[])).toEqual(new Set(["none"]));
  const [dot] = (await style(page, ".pill i", "backgroundColor")) as string[];
  const [behind] = (await style(page, "html", "backgroundColor")) as string[];
  expect(dot).not.toBe(behind);
  const [zero] = (await style(page, ".bits .b i:not(.one)", "backgroundColor")) as string[];
  const [one] = (await style(page, ".bits .b i.one", "backgroundColor")) as string[];
  expect(one).not.toBe(zero);
  expect(new Set((await style(page, ".bits .b i:not(.one)", "borderTopStyle")) as string[])).toEqual(
    new Set(["solid"]),
  );
  await page.screenshot({ path: ".pictures/parse-forced-colours.png", fullPage: true });
});

test("PAGE 27: after a change of the view, the keyboard goes on at its heading", async () => {
  const page = await world.open();
  for (const [name, heading] of [
    ["Learn", "How an ID works"],
    ["Watch", "Watch the workers"],
    ["Generate", "Generate IDs"],
  ] as const) {
    const link = page.getByRole("navigation").getByRole("link", { name });
    await link.focus();
    await page.keyboard.press("Enter");
    const title = page.getByRole("heading", { name: heading });
    await expect.poll(() => title.evaluate((element) => element.matches(":focus"))).toBe(true);
  }
});

test("a reader of traditional Chinese is told, in these characters, that the page has simplified ones", async () => {
  const note = "本頁以簡體中文顯示，尚無繁體版本。";
  for (const [locale, count] of [
    ["zh-TW", 1],
    ["zh-CN", 0],
  ] as const) {
    const page = await world.open({ context: { locale } });
    await page.getByRole("button", { name: "生成", exact: true }).waitFor();
    expect([locale, await page.getByText(note).count()]).toEqual([locale, count]);
  }
  expect([["zh-HK"], ["fr", "zh-Hant-CN"], ["zh-MO"], ["ZH-tw"]].map(wantsTraditional)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect([["zh"], ["zh-Hans-TW"], ["en", "zh-SG", "zh-TW"], []].map(wantsTraditional)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
