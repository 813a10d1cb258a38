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
    // On an address without a view the heading was there before.
    await expect.poll(async () => [path, await told.count()]).toEqual([path, 0]);
  }
});

test("a layout that cannot be is a part of a link that cannot be read, and while it is typed the address stays", async () => {
  const page = await world.open();
  await page.clock.install();
  const id = "1541815603606036522";
  const open = async (fragment: string): Promise<void> => {
    await page.goto("about:blank");
    await page.goto(`${world.server().url}/#/${fragment}`);
    await page.locator("h1").waitFor();
  };
  for (const layout of [
    "layout=custom&fields=timestamp.41,worker.99&epoch=0&tick=1000000",
    "layout=custom&fields=timestamp.60,worker.10&epoch=0&tick=1000000",
    "layout=twitter&epoch=99999999999999",
  ]) {
    await open(`parse?id=${id}&${layout}`);
    await page.getByText("The link has a part that could not be read.").waitFor();
  }
  await open(`learn?layout=discord`);
  await page.getByRole("button", { name: "Change the epoch or the layout" }).click();
  await page.getByLabel("Layout", { exact: true }).selectOption("custom");
  await page.getByRole("textbox", { name: "Sequence" }).fill("10");
  await expect.poll(() => page.evaluate("location.hash")).toContain("sequence.10");
  const before = await page.evaluate("location.hash");
  await page.getByRole("textbox", { name: "Worker" }).fill("99");
  await page.locator("[aria-invalid]").first().waitFor();
  // Longer than the page waits before it writes the address.
  await page.clock.runFor(1_000);
  expect(await page.evaluate("location.hash")).toBe(before);
});

test("every text form and every ID that Generate shows is copied as it is shown", async () => {
  const page = await world.open({
    path: "/#/parse?id=1541815603606036522&layout=twitter",
    context: { permissions: ["clipboard-read", "clipboard-write"] },
  });
  const copy = async (button: Locator, text: string): Promise<void> => {
    await button.click();
    const clipboard = async (): Promise<unknown> => page.evaluate("navigator.clipboard.readText()");
    await expect.poll(clipboard).toBe(text);
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
    await expect.poll(() => code.innerText()).toContain(part);
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
  await expect.poll(() => background()).toBe(light);
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
  // The search takes this number for no ID: a link that brought it keeps it all the same.
  await other.getByLabel("Layout").selectOption("discord");
  await expect.poll(() => other.evaluate("location.hash")).toBe("#/parse?id=123456789012345678&layout=discord");
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
    await expect.poll(() => code.textContent()).toBe(program);
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
  await expect.poll(() => page.frames().at(-1)?.url()).toBe("chrome-error://chromewebdata/");
  expect(await page.frames().at(-1)!.getByRole("main").count()).toBe(0);
  const { headers } = await fetch(`${url}/`);
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});
