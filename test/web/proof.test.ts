import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type SwitchedRule, switchedRules } from "../simulation/shown/rule-names.ts";
import { calmMs } from "../simulation/shown/dropped-fault.ts";
import { writeRunLink } from "../simulation/shown/run-link.ts";
import { shownRules } from "../simulation/shown/shown-rules.ts";
import { proofEn } from "../../web/proof/texts/proof-en.ts";
import { webWorld } from "../support/web/web-world.ts";

/** Proof as people meet it: faults are dropped in, rules are taken away, and a run is sent to somebody else. */

const world = webWorld();
const { drop, figures, player, rules, story } = proofEn;
const safety = readFileSync("docs/safety.md", "utf8");

/** The link of a run in which a rule is needed. */
function linkOf(rule: SwitchedRule): string {
  const { store, faults, seeds } = shownRules[rule];
  return `/#/proof?${writeRunLink({ seed: seeds[0]!, store, rule, faults })}`;
}

/** The figure with this title: its note says whether IDs came twice. */
const noteOf = (page: Page, title: string) =>
  page.locator(".proof-figures div").filter({ hasText: title }).locator("small");

const whole = (page: Page) => noteOf(page, figures.whole);
const simple = (page: Page) => noteOf(page, figures.simple);
const lanes = (page: Page) => page.evaluate("document.querySelector('canvas').toDataURL()");

/** How many points of the picture have the colour in which the page shows what is wrong. */
const redPoints = (page: Page) =>
  page.evaluate(`(() => {
    const canvas = document.querySelector("canvas");
    const probe = canvas.parentElement.appendChild(document.createElement("span"));
    probe.className = "badge bad";
    const [red, green, blue] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
    probe.remove();
    const read = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
    const pen = read.getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const { data } = pen.getImageData(0, 0, read.width, read.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4)
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) count++;
    return count;
  })()`) as Promise<number>;

/** Tab until a control has the focus. */
async function tabTo(page: Page, role: "button" | "slider" | "radio" | "combobox", name: string): Promise<void> {
  const target = page.getByRole(role, { name, exact: true }).first();
  await target.waitFor();
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element.matches(":focus"))) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab never reached ${name}`);
}

async function begin(page: Page): Promise<void> {
  await page.locator("#content").focus();
}

/** Where a time of the run lies in the picture. */
async function placeOf(page: Page, atMs: number): Promise<{ readonly x: number; readonly y: number }> {
  const { width } = (await page.locator("canvas").boundingBox())!;
  return { x: 92 + ((width - 104) * atMs) / 12_000, y: 150 };
}

const copying = { permissions: ["clipboard-read", "clipboard-write"] };

/** Copies the link of the run, and opens it in a second browser, where it has to show the same run. */
async function openCopy(page: Page, copy: () => Promise<void>): Promise<Page> {
  // The button says so for two seconds, which a test could miss.
  await page.evaluate(`{
    globalThis.isCopied = false;
    const button = document.querySelector(".proof-head button");
    new MutationObserver(() => (isCopied ||= button.innerText === ${JSON.stringify(proofEn.copied.done)})).observe(button, {
      characterData: true,
      childList: true,
      subtree: true,
    });
  }`);
  await copy();
  await expect.poll(() => page.evaluate("isCopied")).toBe(true);
  const link = String(await page.evaluate("navigator.clipboard.readText()"));
  expect(link).toBe(page.url());
  const other = await world.open({ path: `/${new URL(link).hash}` });
  await noteOf(other, figures.without)
    .getByText(/came twice/)
    .waitFor();
  await expect.poll(() => lanes(other)).toBe(await lanes(page));
  expect(await other.locator(".story").innerText()).toBe(await page.locator(".story").innerText());
  return other;
}

/** A rule is away: two equal IDs came, and the picture has the arc between them. */
async function expectArc(page: Page, redBefore: number): Promise<void> {
  await noteOf(page, figures.without)
    .getByText(/came twice/)
    .waitFor();
  await page.getByRole("img", { name: proofEn.lanes.equal }).waitFor();
  await expect.poll(() => redPoints(page)).toBeGreaterThan(redBefore + 200);
}

test("no byte of the view or its worker is loaded before it is opened", async () => {
  const page = await world.open();
  const loaded: string[] = [];
  page.on(
    "request",
    (request) => void (/\/assets\/(proof|simulation)/.test(request.url()) && loaded.push(request.url())),
  );
  await page.getByText("serving").waitFor();
  for (const view of ["Parse", "Learn", "Watch", "Generate"])
    await page.getByRole("link", { name: view, exact: true }).click();
  expect(loaded).toEqual([]);
  await page.getByRole("link", { name: "Proof" }).click();
  await whole(page).getByText(figures.none).waitFor();
  // The chunk, its style, the words of one language, and the worker.
  expect(loaded).toHaveLength(4);
});

test("by pointer: a clock step and a kill make the simple generator repeat IDs, and ours once a rule is away", async () => {
  const page = await world.open({ path: "/#/proof" });
  await whole(page).getByText(figures.none).waitFor();
  expect(await simple(page).innerText()).toBe(figures.none);
  await page.getByRole("button", { name: drop.whats.back }).click();
  // A press on the picture goes to its time: some 0.8 s later.
  const canvas = page.locator("canvas");
  await canvas.click({ position: await placeOf(page, 4_800) });
  await page.getByRole("button", { name: drop.whats.kill }).click();
  await simple(page)
    .getByText(/came twice/)
    .waitFor();
  expect(await whole(page).innerText()).toBe(figures.none);
  await page.getByRole("listitem").filter({ hasText: "Process 0 is killed." }).waitFor();
  expect(new URL(page.url()).hash).toMatch(/^#\/proof\?seed=1&store=server&f=back\.4000\.0,kill\.4[78]\d\d\.0$/);
  await page.getByLabel(player.store, { exact: true }).selectOption(player.stores.file);
  await page.waitForURL(/store=file/);
  await whole(page).getByText(figures.none).waitFor();
  await canvas.click({ position: await placeOf(page, 11_900) });
  await page.getByText(drop.late(calmMs)).waitFor();
  const before = await redPoints(page);
  await page.getByText(rules.names["own-clock"]).click();
  await expectArc(page, before);
  await page.getByText(rules.all).click();
  await whole(page).getByText(figures.none).waitFor();
  await page.getByRole("button", { name: /^Remove: Kill/ }).click();
  await simple(page).getByText(figures.none).waitFor();
});

test("by keyboard: the same, and the link of that run is copied and shows it in a second browser", async () => {
  const page = await world.open({ path: "/#/proof", context: copying });
  await whole(page).getByText(figures.none).waitFor();
  await begin(page);
  await tabTo(page, "button", drop.whats.back);
  await page.keyboard.press("Enter");
  await begin(page);
  await tabTo(page, "slider", player.time);
  for (let presses = 0; presses < 80; presses++) await page.keyboard.press("ArrowRight");
  await page.getByText(drop.title(4_800)).waitFor();
  await tabTo(page, "button", drop.whats.kill);
  await page.keyboard.press("Space");
  await simple(page)
    .getByText(/came twice/)
    .waitFor();
  expect(await whole(page).innerText()).toBe(figures.none);
  await tabTo(page, "combobox", player.store);
  await page.keyboard.type("File");
  await page.waitForURL(/store=file/);
  await whole(page).getByText(figures.none).waitFor();
  await begin(page);
  await tabTo(page, "slider", player.time);
  await page.keyboard.press("End");
  const before = await redPoints(page);
  await tabTo(page, "radio", rules.all);
  await page.keyboard.press("ArrowDown");
  await expectArc(page, before);
  expect(await page.getByRole("radio", { name: rules.names["own-clock"] }).isChecked()).toBe(true);
  await begin(page);
  await tabTo(page, "button", proofEn.copyLink);
  await openCopy(page, () => page.keyboard.press("Enter"));
});

test.each(switchedRules)(
  "without the rule %s: equal IDs by each of its seeds, its sentence, and why it is needed",
  async (rule) => {
    const page = await world.open({ path: "/#/proof" });
    await page.getByRole("radio", { name: rules.names[rule] }).check();
    // Nothing was dropped in: the view says that the rule was not needed, and offers runs in which it is.
    await page.getByText(rules.harmless).waitFor();
    expect(await noteOf(page, figures.without).innerText()).toBe(figures.none);
    for (const seed of shownRules[rule].seeds) {
      await page.getByRole("button", { name: rules.seed(seed), exact: true }).click();
      await page.waitForURL(new RegExp(`seed=${seed}&`));
      await noteOf(page, figures.without)
        .getByText(/came twice/)
        .waitFor();
      await page.getByText(rules.shows).waitFor();
    }
    await page.getByText(story.mark).waitFor();
    expect(await page.locator(".story .granted-below").innerText()).toMatch(
      /gets worker ID \d\. The store had confirmed the mark [\d.]+ s for it: any time below that may be in an ID already\. .+ With the rule it would begin at [\d.]+ s or later\.$/,
    );
    expect(await page.locator(".story .equal").innerText()).toMatch(/issues IDs that were issued at [\d.]+ s already/);
    const quoted = (await page.locator(".rules blockquote").innerText()).replace(/\s*docs\/safety\.md$/, "");
    const plain = (text: string): string => text.replaceAll("*", "").replaceAll(/\s+/g, " ");
    expect(plain(safety)).toContain(plain(quoted));
    // The link marks the sentence: its words are in one line of the text, once.
    const address = (await page.locator(".rules cite a").getAttribute("href")) ?? "";
    const words = decodeURIComponent(address.split("#:~:text=")[1] ?? "");
    expect([safety.split(words).length, plain(quoted).includes(words)]).toEqual([2, true]);
    await page.getByRole("radio", { name: rules.all }).check();
    await whole(page).getByText(figures.none).waitFor();
  },
);

test("a copied link shows the same run to the point of its lanes in a second browser", async () => {
  const page = await world.open({ path: linkOf("no-floor"), context: copying });
  await noteOf(page, figures.without)
    .getByText(/came twice/)
    .waitFor();
  const other = await openCopy(page, () => page.getByRole("button", { name: proofEn.copyLink }).click());
  // Another seed is another picture.
  await other.getByRole("button", { name: player.another }).click();
  await other.waitForURL(/seed=12/);
  await expect.poll(() => lanes(other)).not.toBe(await lanes(page));
});

test("a link that is opened in the same tab is followed, and a broken one is the first run", async () => {
  const page = await world.open({ path: linkOf("own-clock") });
  await noteOf(page, figures.without)
    .getByText(/came twice/)
    .waitFor();
  await page.goto(`${world.server().url}/#/proof?seed=%3Cimg%3E&store=moon&rule=none&f=bang.1.1`);
  await whole(page).getByText(figures.none).waitFor();
  expect(await page.getByLabel(player.seed).inputValue()).toBe("1");
  expect(await page.getByRole("main").locator("img").count()).toBe(0);
  await page.getByRole("link", { name: "Learn" }).click();
  await page.getByRole("link", { name: "Proof" }).click();
  await whole(page).getByText(figures.none).waitFor();
  await expect.poll(() => page.evaluate("document.querySelector('canvas').width")).toBeGreaterThan(600);
});

test("the text about safety comes from the server that the page came from, and the run is there when its reader comes back", async () => {
  // A browser asks for an icon of a text, which there is not.
  const page = await world.open({ path: linkOf("no-floor"), expected: /Failed to load resource/ });
  await noteOf(page, figures.without)
    .getByText(/came twice/)
    .waitFor();
  for (const place of [".rules", ".prose"]) {
    await page.locator(place).getByRole("link", { name: "docs/safety.md" }).click();
    await page.waitForURL(/\/assets\/safety-/);
    expect((await page.locator("pre").innerText()).trim()).toBe(safety.trim());
    await page.goBack();
    await noteOf(page, figures.without)
      .getByText(/came twice/)
      .waitFor();
  }
  expect(new URL(page.url()).hash).toBe(linkOf("no-floor").slice(1));
});

test("a seed that there is not leaves the run and its field as they were", async () => {
  const page = await world.open({ path: "/#/proof?seed=12" });
  await whole(page).getByText(figures.none).waitFor();
  const seed = page.getByLabel(player.seed);
  for (const typed of ["0", "-1", "1.5", "1000000", "one", ""]) {
    await seed.fill(typed);
    await seed.press("Enter");
    await expect.poll(() => seed.inputValue()).toBe("12");
  }
  await seed.fill("13");
  await seed.press("Enter");
  await page.waitForURL(/seed=13&/);
});

test("a run stays as its reader made it while the rest of the page is drawn again", async () => {
  const page = await world.open({ path: linkOf("no-floor") });
  await noteOf(page, figures.without)
    .getByText(/came twice/)
    .waitFor();
  await page.getByRole("button", { name: player.another }).click();
  await page.waitForURL(/seed=12&/);
  const light = await lanes(page);
  await page.getByRole("button", { name: "Dark" }).click();
  await expect.poll(() => lanes(page)).not.toBe(light);
  await page.getByRole("button", { name: "中文" }).click();
  await page.getByRole("heading", { name: "试着让它发出重复的 ID" }).waitFor();
  expect(await page.getByLabel("种子").inputValue()).toBe("12");
  expect(page.url()).toContain("seed=12&");
});

test("a run is played to its end, paused, and stepped through event by event", async () => {
  const page = await world.open({ path: linkOf("no-floor") });
  const time = page.getByRole("slider", { name: player.time });
  await noteOf(page, figures.without)
    .getByText(/came twice/)
    .waitFor();
  await expect.poll(() => time.inputValue()).toBe("12000");
  // 24 s, so that it is still played when a busy machine comes to the next press.
  await page.getByRole("button", { name: "0.5×" }).click();
  await page.getByRole("button", { name: player.play, exact: true }).click();
  await page.getByRole("button", { name: player.pause, exact: true }).click();
  expect(Number(await time.inputValue())).toBeLessThan(12_000);
  await page.getByRole("button", { name: "4×" }).click();
  await page.getByRole("button", { name: player.play, exact: true }).click();
  await expect.poll(() => time.inputValue()).toBe("12000");
  await page.getByRole("button", { name: player.play, exact: true }).waitFor();
  await page.getByRole("button", { name: player.previous }).click();
  await expect.poll(() => time.inputValue()).toBe("11000");
});

test("where a reader wants no motion, nothing plays, and events are stepped through", async () => {
  const page = await world.open({ path: linkOf("no-floor"), context: { reducedMotion: "reduce" } });
  await noteOf(page, figures.without)
    .getByText(/came twice/)
    .waitFor();
  expect(await page.getByRole("button", { name: player.play, exact: true }).count()).toBe(0);
  const before = await lanes(page);
  await page.getByRole("button", { name: player.previous }).click();
  await expect.poll(() => lanes(page)).not.toBe(before);
});

test("a reader who does not see the picture has a table of the same run", async () => {
  const page = await world.open({ path: linkOf("no-quarantine") });
  await noteOf(page, figures.without)
    .getByText(/came twice/)
    .waitFor();
  await page.getByText(proofEn.table.title).click();
  const rows = page.getByRole("row");
  await rows
    .filter({ hasText: /process 0.+holds worker ID \d, issues [\d,]+ IDs/s })
    .first()
    .waitFor();
  await rows
    .filter({ hasText: /process 1.+is killed/s })
    .first()
    .waitFor();
  await rows
    .filter({ hasText: /process 0.+waits for a worker ID/s })
    .first()
    .waitFor();
});

test("a run that takes more than two seconds is ended with its picture, and the next one runs", async () => {
  const page = await world.open({ path: "/#/generate" });
  const endless = ';addEventListener("message", ({ data }) => { while (data.run.seed === 99); });';
  await page.route("**/assets/simulation-*.js", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${await response.text()}${endless}` });
  });
  await page.getByRole("link", { name: "Proof" }).click();
  await whole(page).getByText(figures.none).waitFor();
  const seed = page.getByLabel(player.seed);
  await seed.fill("99");
  await seed.press("Enter");
  await page.getByRole("alert").getByText(proofEn.problems.slow).waitFor();
  expect(await page.getByText(proofEn.computing).count()).toBe(0);
  const isBlank = `(() => {
    const { width, height } = document.querySelector("canvas");
    const blank = Object.assign(document.createElement("canvas"), { width, height });
    return document.querySelector("canvas").toDataURL() === blank.toDataURL();
  })()`;
  await expect.poll(() => page.evaluate(isBlank)).toBe(true);
  await page.getByRole("button", { name: player.another }).click();
  await whole(page).getByText(figures.none).waitFor();
  await expect.poll(() => page.evaluate(isBlank)).toBe(false);
  expect(await page.getByRole("alert").count()).toBe(0);
});

test("the view says why a fault cannot be dropped in: the time, the store, or twelve of them", async () => {
  const page = await world.open({ path: `/#/proof?seed=1&store=file&f=${"kill.1000.0,".repeat(12)}` });
  const wipe = page.getByRole("button", { name: drop.whats.wipe });
  await page.getByText(drop.late(calmMs)).waitFor();
  await page.getByRole("button", { name: player.previous }).click();
  await page.getByText(drop.full(12)).waitFor();
  await page.getByRole("button", { name: drop.clear }).click();
  await page.getByText(drop.keeps).waitFor();
  expect(await page.getByRole("button", { name: drop.whats.kill }).isEnabled()).toBe(true);
  expect(await wipe.isDisabled()).toBe(true);
  await page.getByLabel(player.store, { exact: true }).selectOption(player.stores.server);
  await page.waitForURL(/store=server/);
  expect(await wipe.isEnabled()).toBe(true);
  expect(await page.getByText(drop.keeps).count()).toBe(0);
});

test("a script of the simulation that cannot be loaded is said", async () => {
  const page = await world.open({ path: "/#/generate", expected: /Failed to load resource/ });
  await page.route("**/assets/simulation-*.js", (route) => route.abort());
  await page.getByRole("link", { name: "Proof" }).click();
  await page.getByRole("alert").getByText(proofEn.problems.missing).waitFor();
});

test("the page makes a worker of its own script, and of no other", async () => {
  const page = await world.open({ path: "/#/proof", expected: /TrustedScriptURL|TrustedTypePolicy|CSP:/ });
  await whole(page).getByText(figures.none).waitFor();
  const makes = (script: string) =>
    page.evaluate(`(() => { try { ${script}; return "made"; } catch (error) { return error.name; } })()`);
  expect(await makes("new Worker('/assets/other.js')")).toBe("TypeError");
  expect(await makes("trustedTypes.createPolicy('snowlane-worker', { createScriptURL: (text) => text })")).toBe(
    "TypeError",
  );
});
