import { mkdirSync, readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { en } from "../../web/src/texts/en.ts";
import { proofEn } from "../../web/proof/texts/proof-en.ts";
import { webWorld } from "../support/web/web-world.ts";

/** How the page looks, and whether everybody can use it: pictures of each view are kept in `.pictures/`. */

const world = webWorld();
const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const pictures = ".pictures";
mkdirSync(pictures, { recursive: true });

/** A window of 1,280 px at a zoom of 200 % is laid out as one of 640. */
const sizes = [
  ["small", 320, 640],
  ["zoomed", 640, 430],
  ["phone", 390, 844],
  ["desktop", 1280, 860],
] as const;

/** Each view with something on it. */
const views: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  generate: async (page) => {
    await page.getByRole("button", { name: "Generate" }).click();
    await page.getByRole("button", { name: "Read it" }).waitFor();
  },
  "by-hand": async (page) => {
    await page.getByRole("button", { name: "In the browser" }).click();
    await page.getByRole("textbox", { name: "Worker", exact: true }).fill("99");
    await page.getByRole("button", { name: "Change the epoch or the layout" }).click();
  },
  parse: async (page) => {
    await page.goto(`${world.server().url}/#/parse?id=1541815603606036522&layout=twitter`);
    await page.getByText("made by worker 26").waitFor();
  },
  "custom-layout": async (page) => {
    await page.goto(`${world.server().url}/#/parse?id=1541815603606036522`);
    await page.getByLabel("Layout").selectOption("custom");
  },
  "many-lines": async (page) => {
    const ids = encodeURIComponent("1541815603606036522\nnonsense\n0181ab11-8149-75e8-82af-cd06cf6470a3");
    await page.goto(`${world.server().url}/#/parse?id=${ids}`);
    await page.getByText("3 lines read").waitFor();
  },
  log: async (page) => {
    await page.goto(`${world.server().url}/#/parse`);
    await page.getByRole("button", { name: "Try a log" }).click();
    await page.getByText("8 IDs found and 1 Unix time").waitFor();
    await page.getByRole("button", { name: "1.54181560360604E+18" }).click();
    await page.getByText("A spreadsheet or a JSON parser rounded this number.").waitFor();
    await page.getByRole("region", { name: "Difference" }).waitFor();
    await page.getByRole("columnheader", { name: "Sequence" }).waitFor();
  },
  learn: async (page) => {
    await page.goto(`${world.server().url}/#/learn`);
    await page.getByRole("heading", { name: "Alternatives" }).waitFor();
  },
  watch: async (page) => {
    const { url } = world.server();
    const call = (path: string, body: object) =>
      page.request.post(`${url}/snowlane.v1.${path}`, { data: body, headers: { "content-type": "application/json" } });
    await call("SequenceService/CreateSequence", { sequence: { name: "orders", description: "Orders of the shop" } });
    for (let count = 0; count < 20; count++) await call("IdService/ReserveIds", { count: 1 + (count % 7) });
    await page.goto(`${url}/#/watch`);
    await page.getByRole("rowheader", { name: /^orders/ }).waitFor();
    await page.locator(".chart canvas").nth(5).waitFor();
  },
  proof: async (page) => {
    await page.goto(`${world.server().url}/#/proof?seed=11&rule=no-floor&f=wipe.4000.2`);
    await page
      .getByText(/came twice, the first/)
      .first()
      .waitFor();
    await page.getByText(proofEn.table.title).click();
  },
  chinese: async (page) => {
    await page.getByRole("button", { name: "中文" }).click();
    await page.getByRole("heading", { name: "生成 ID" }).waitFor();
  },
  swahili: async (page) => {
    await page.getByRole("button", { name: "Kiswahili" }).click();
    await page.goto(`${world.server().url}/#/parse?id=1541815603606036522&layout=twitter`);
    await page.getByText("ilizalishwa na nodi 26").waitFor();
  },
  "token-wanted": async (page) => {
    const answer = { code: "unauthenticated", message: "no" };
    await page.route("**/snowlane.v1.*/*", (route) => route.fulfill({ status: 401, json: answer }));
    await page.goto(`${world.server().url}/#/watch`);
    await page.getByRole("textbox", { name: "Token" }).waitFor();
  },
};

test.each(["desktop", "phone"])("on a %s the head looks the same without the script", async (wanted) => {
  const [, width, height] = sizes.find(([size]) => size === wanted)!;
  const viewport = { width, height };
  const drawn = await world.open({ context: { viewport } });
  const context = await drawn.context().browser()!.newContext({ viewport, javaScriptEnabled: false });
  onTestFinished(() => context.close());
  const still = await context.newPage();
  await still.goto(world.server().url);
  const partsOf = async (page: Page) => {
    const links = await page.locator("header a").all();
    return Promise.all(links.map(async (link) => [await link.innerText(), await link.boundingBox()]));
  };
  expect(await partsOf(still)).toEqual(await partsOf(drawn));
  expect(await partsOf(still)).toHaveLength(7);
  expect(await still.locator(".pill").innerText()).toBe(en.server.asking);
  expect(await drawn.locator("header").count()).toBe(1);
});

test("PAGE 19: the five tabs fit at every width, in every language", async () => {
  const page = await world.open();
  for (const language of ["English", "中文", "Kiswahili"]) {
    await page.getByRole("button", { name: language }).click();
    await page.locator(`.foot [aria-pressed="true"]`, { hasText: language }).waitFor();
    for (const width of [320, 390, 720, 768, 1024]) {
      await page.setViewportSize({ width, height: 800 });
      const cut = await page.evaluate(`[...document.querySelectorAll("nav.tabs a")].filter((tab) => {
        const { left, right } = tab.getBoundingClientRect();
        return left < 0 || right > document.documentElement.clientWidth || tab.scrollWidth > tab.clientWidth;
      }).map((tab) => tab.textContent)`);
      expect([language, width, cut]).toEqual([language, width, []]);
    }
  }
});

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

describe.each(Object.keys(views))("%s", (name) => {
  test.each(["light", "dark"] as const)(
    "in %s: no sideways scrolling at any width, no violation of axe",
    async (colorScheme) => {
      // axe adds a script of its own, which the policy of the page forbids.
      const expected = name === "token-wanted" ? /401/ : undefined;
      const context = { colorScheme, bypassCSP: true, timezoneId: "Africa/Nairobi" };
      const page = await world.open({ context, ...(expected && { expected }) });
      await page.getByText("serving").waitFor();
      await views[name]!(page);
      for (const [size, width, height] of sizes) {
        await page.setViewportSize({ width, height });
        const inside = Number(await page.evaluate("document.documentElement.scrollWidth"));
        expect([size, inside]).toEqual([size, width]);
        await page.evaluate(axe);
        const violations = (await page.evaluate("axe.run().then(({ violations }) => violations)")) as Violation[];
        const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => [id, node.html, node.failureSummary]));
        expect(found).toEqual([]);
        if (size === "small" || size === "zoomed") continue;
        // As high as the page, so that the tabs at the bottom of a phone cover nothing of it.
        const whole = Number(await page.evaluate("document.documentElement.scrollHeight"));
        await page.setViewportSize({ width, height: Math.max(whole, height) });
        await page.screenshot({ path: `${pictures}/${name}-${size}-${colorScheme}.png`, fullPage: true });
      }
    },
  );
});
