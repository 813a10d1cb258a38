import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Page, Request, Route } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { GetStatusResponseSchema, StatusSampleSchema } from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { principalsFile, tokenOf } from "../support/processes/principals-file.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { webWorld } from "../support/web/web-world.ts";

/** Watch as people meet it: the last minutes, sequences, tokens, and a server that changes under an open tab. */

const world = webWorld();
const json = { "content-type": "application/json" };

const call = (page: Page, url: string, path: string, data: object) =>
  page.request.post(`${url}/snowlane.v1.${path}`, { data, headers: json });

test("the charts are loaded by Watch alone, and say in numbers what the server did", async () => {
  const { url } = world.server();
  const page = await world.open();
  const charts: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/assets/charts-")) charts.push(request.url());
  });
  await page.getByText("serving").waitFor();
  for (const view of ["Parse", "Learn", "Generate"]) await page.getByRole("link", { name: view, exact: true }).click();
  expect(charts).toEqual([]);
  await call(page, url, "IdService/ReserveIds", { count: 700 });
  await call(page, url, "IdService/ReserveIds", { count: 0 });
  await page.getByRole("link", { name: "Watch" }).click();
  await page.locator(".chart canvas").nth(5).waitFor();
  expect(charts).toHaveLength(1);
  await page.getByText("The same in numbers").click();
  const greatest = (name: string) =>
    page
      .getByRole("row", { name: new RegExp(`^${name}`) })
      .getByRole("cell")
      .nth(3);
  await expect.poll(async () => Number(await greatest("IDs a second").innerText())).toBe(700);
  await expect.poll(async () => Number(await greatest("Errors a second").innerText())).toBe(1);
  // PAGE 18: the kinds of errors, as the server counted them.
  const errors = page.locator("figure", { hasText: "Errors a second" });
  await errors.getByText("By code: INVALID_ARGUMENT 1").waitFor();
  expect(await greatest("Time of a call").innerText()).toMatch(/ ms$/);
  expect(await greatest("Time reserved ahead").innerText()).toMatch(/ s$/);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("button", { name: "1 min" }).click();
  await page.getByText("answered").first().waitFor();
});

/** Puts these seconds in place of those that the server had. */
async function showSeconds(page: Page, ids: readonly number[]): Promise<void> {
  const answerWithSeconds = async (route: Route): Promise<void> => {
    const answer = fromBinary(GetStatusResponseSchema, await (await route.fetch()).body());
    const endS = Math.floor(Date.now() / 1_000);
    answer.samples = ids.map((count, index) =>
      create(StatusSampleSchema, {
        index: BigInt(index + 1),
        time: { seconds: BigInt(endS - ids.length + index), nanos: 0 },
        idsCount: BigInt(count),
        p50: { seconds: 0n, nanos: 280_000 },
        p99: { seconds: 0n, nanos: 900_000 },
      }),
    );
    const body = Buffer.from(toBinary(GetStatusResponseSchema, answer));
    await route.fulfill({ status: 200, contentType: "application/proto", body });
  };
  // A test that is over closes its page, and the answer that is on its way goes nowhere.
  await page.route("**/snowlane.v1.AdminService/GetStatus", (route) => answerWithSeconds(route).catch(() => undefined));
}

test("PAGE 18: one burst flattens no chart, the pointer reads each second, and figures are means", async () => {
  const page = await world.open();
  const ids = Array.from({ length: 300 }, (_, index) => (index === 200 ? 1_000_000 : 450));
  await showSeconds(page, ids);
  await page.getByRole("link", { name: "Watch" }).click();
  await page.getByText(/^Above the scale: 1,000,000 at \d\d:\d\d:\d\d$/).waitFor();
  const chart = page.locator("figure", { hasText: "IDs a second" });
  expect(await chart.locator("figcaption b").innerText()).toBe("450");
  const over = chart.locator(".u-over");
  await over.hover();
  await expect.poll(() => chart.locator(".tip").innerText()).toMatch(/^\d\d:\d\d:\d\d {2}450$/);
  // All charts point at one second.
  const latency = page.locator("figure", { hasText: "Time of a call" });
  expect(await latency.locator(".tip").innerText()).toMatch(/^\d\d:\d\d:\d\d {2}p50 0.28 ms {2}p99 0.9 ms$/);
  expect(await latency.locator(".legend").allInnerTexts()).toEqual(["p50", "p99"]);
  const lines = `[...document.querySelectorAll(".legend")].map((one) => getComputedStyle(one, "::before").borderTopStyle)`;
  expect(await page.evaluate(lines)).toEqual(["dashed", "solid"]);
  await page.mouse.move(0, 0);
  await chart.locator(".tip").waitFor({ state: "hidden" });
  await page.getByText("The same in numbers").click();
  const cells = await page
    .getByRole("row", { name: /^IDs a second/ })
    .getByRole("cell")
    .allInnerTexts();
  expect(cells).toEqual(["450", "450", "3,782", "1,000,000", expect.stringMatching(/^\d\d:\d\d:\d\d$/)]);
});

test.each([
  [1_280, 4],
  [390, 3],
])("PAGE 18: at %i px each chart has its unit at the axis, and at least %i times", async (width, timeCount) => {
  const page = await world.open({ context: { viewport: { width, height: 860 } } });
  await showSeconds(
    page,
    Array.from({ length: 300 }, () => 450),
  );
  await page.evaluate(`{
    globalThis.written = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...places) {
      written.push(text);
      return fillText.call(this, text, ...places);
    };
  }`);
  await page.getByRole("link", { name: "Watch" }).click();
  const written = async () => (await page.evaluate("written")) as readonly string[];
  const units = ["400/s", "1/s", "1 ms"];
  await expect.poll(written).toEqual(expect.arrayContaining(units));
  const times = (await written()).filter((text) => /^\d\d:\d\d$/.test(text));
  expect(new Set(times).size).toBeGreaterThanOrEqual(timeCount);
});

test("an open Watch makes at most one call a second", async () => {
  const page = await world.open({ path: "/#/watch" });
  // The page's clock stands still, but for the seconds that the test lets pass.
  await page.clock.install();
  await page.reload();
  await page.locator(".chart canvas").nth(5).waitFor();
  await page.clock.pauseAt(Date.now() + 60_000);
  let calls = 0;
  const open = new Set<Request>();
  page.on("request", (request) => {
    open.add(request);
    if (/snowlane\.v1\.|grpc\.health\./.test(request.url())) calls++;
  });
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => open.delete(request));
  const seconds = 60;
  for (let second = 0; second < seconds; second++) {
    await page.clock.runFor(1_000);
    await expect.poll(() => open.size).toBe(0);
  }
  expect(calls).toBeLessThanOrEqual(seconds);
  expect(calls).toBeGreaterThan(seconds / 4);
});

test("sequences show what is left, and their hostile texts as text", async () => {
  const server = await world.startServer();
  const page = await world.open({ origin: server.url });
  const hostile = "<img src=x onerror=alert(1)>";
  const sequence = { name: "invoices", valueMax: "1000", description: hostile, textTemplate: `${hostile}{value}` };
  expect((await call(page, server.url, "SequenceService/CreateSequence", { sequence })).ok()).toBe(true);
  await page.getByRole("link", { name: "Watch" }).click();
  const row = page.getByRole("row", { name: /^invoices/ });
  await row.waitFor();
  expect(await row.innerText()).toContain("1,000");
  expect((await row.innerText()).split(hostile)).toHaveLength(3);
  expect(await page.locator("main img").count()).toBe(0);
});

test("a server without sequences shows none and is asked once, and its next life with some is asked again", async () => {
  const server = await world.startServer(["--sequence-stores", "off"]);
  const page = await world.open({ origin: server.url, expected: /status of 404|Failed to load|ERR_CONNECTION/ });
  const messages: string[] = [];
  page.on("console", (message) => messages.push(message.text()));
  let lists = 0;
  page.on("response", (response) => void (response.url().endsWith("/ListWorkers") && lists++));
  await page.getByText("serving").waitFor();
  await page.getByRole("link", { name: "Watch" }).click();
  // A tab that comes into sight asks at once.
  const lookAgain = () => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await expect.poll(async () => (await lookAgain(), lists), { interval: 200 }).toBeGreaterThan(4);
  await page.getByRole("row").filter({ hasText: "this server" }).waitFor();
  const sequences = page.getByRole("heading", { name: "Sequences" });
  expect(await sequences.count()).toBe(0);
  expect(messages.filter((text) => text.includes("404"))).toHaveLength(1);
  await server.stop("SIGTERM");
  await world.startServer([], server.address);
  await sequences.waitFor();
});

test("while Watch shows a server, it is asked again what it is only once that may have changed", async () => {
  const server = await world.startServer();
  const page = await world.open({ origin: server.url, path: "/#/watch", expected: /Failed to load|ERR_CONNECTION/ });
  const asked = { GetInfo: 0, Check: 0, ListWorkers: 0 };
  page.on("response", (response) => {
    const method = response.url().split("/").at(-1)!;
    if (method in asked) asked[method as keyof typeof asked]++;
  });
  // The first answer says what it is, and the second that nothing has changed meanwhile.
  await expect.poll(() => asked.ListWorkers).toBeGreaterThan(1);
  const [infos, checks, lists] = [asked.GetInfo, asked.Check, asked.ListWorkers];
  await expect.poll(() => asked.ListWorkers).toBeGreaterThan(lists);
  expect([asked.GetInfo, asked.Check]).toEqual([infos, checks]);
  await server.stop("SIGTERM");
  await page.getByRole("status").filter({ hasText: "not reachable" }).waitFor();
  await world.startServer([], server.address);
  await page.getByRole("status").filter({ hasText: "serving" }).waitFor();
  expect(asked.GetInfo).toBeGreaterThan(infos);
});

test("a store in quarantine is shown with its end and its reason, and the servers that hold a worker ID go on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-quarantine-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = ["--store", `sqlite:${join(folder, "ids.db")}`];
  const server = await world.startServer(store);
  const page = await world.open({ origin: server.url, path: "/#/watch" });
  await page.getByRole("row").filter({ hasText: "this server" }).waitFor();
  expect(await page.getByText("No worker ID is granted").count()).toBe(0);
  const reason = "restored from <b>Monday</b>";
  const quarantine = ["dist/main.js", "workers", "quarantine", ...store, "--reason", reason, "--for", "1h"];
  await runCommand(process.execPath, quarantine);
  const told = page.getByRole("main").getByText(/^No worker ID is granted until /);
  await told.waitFor();
  const [, end = "", because] =
    /^No worker ID is granted until (.+) \(UTC\): (.+)\. Servers/.exec(await told.innerText()) ?? [];
  expect(because).toBe(reason);
  expect(Math.abs(Date.parse(`${end}Z`) - Date.now() - 3_600_000)).toBeLessThan(120_000);
  await page.getByRole("link", { name: "Generate" }).click();
  await page.getByRole("button", { name: "Generate" }).click();
  await page.locator(".when.id").waitFor();
});

test("a closed server asks for a token: wrong, without the permission, right, and gone after a reload", async () => {
  const { path: principals } = principalsFile([
    { name: "ids", permissions: ["ids"] },
    { name: "watcher", permissions: ["ids", "observe"] },
    { name: "observer", permissions: ["observe"] },
  ]);
  const server = await world.startServer(["--principals", principals]);
  const page = await world.open({ origin: server.url, path: "/#/watch", expected: /status of 40[13]/ });
  const give = async (token: string): Promise<void> => {
    await page.getByRole("textbox", { name: "Token" }).fill(token);
    await page.getByRole("button", { name: "Use this token" }).click();
  };
  await page.getByText("needs a token", { exact: true }).waitFor();
  await give("snw_wrong");
  await page.getByText("The server does not know this token.").waitFor();
  await give(tokenOf("ids"));
  await page.getByText("Your credentials lack the permission observe. Ask the operator for it.").first().waitFor();
  await page.getByRole("button", { name: "Forget it" }).click();
  await give(tokenOf("observer"));
  await page.getByRole("row").filter({ hasText: "held" }).first().waitFor();
  await page.getByText("Your credentials lack the permission sequences. Ask the operator for it.").waitFor();
  await page.getByRole("button", { name: "Forget it" }).click();
  await give(tokenOf("watcher"));
  await page.getByText("Calls carry your token.").waitFor();
  await page.locator(".chart canvas").nth(5).waitFor();
  await page.getByRole("link", { name: "Generate" }).click();
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByRole("button", { name: "Read it" }).waitFor();
  const kept = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
  expect(kept).not.toContain("snw_");
  await page.reload();
  await page.getByRole("textbox", { name: "Token" }).waitFor();
  expect(await page.getByRole("textbox", { name: "Token" }).inputValue()).toBe("");
});

test("before a token is typed, the page warns where it would cross a network in plaintext, and nowhere else", async () => {
  const { url } = world.server();
  const page = await world.open({ expected: /status of 401|^request: / });
  const warning = page.getByText("This page came without TLS: the token would cross the network for all to read.");
  for (const [origin, count] of [
    ["http://snowlane.example", 1],
    ["http://localhost", 0],
    ["http://127.0.0.1:1", 0],
    ["http://[::1]:1", 0],
    ["https://snowlane.example", 0],
  ] as const) {
    // The browser never asks another machine: what is of that origin comes from the test.
    await page.route(`${origin}/**`, async (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname.includes("snowlane.v1."))
        return route.fulfill({ status: 401, json: { code: "unauthenticated", message: "no" } });
      return route.fulfill({ response: await route.fetch({ url: url + pathname }) });
    });
    await page.goto(`${origin}/#/watch`);
    await page.getByRole("textbox", { name: "Token" }).waitFor();
    expect([origin, await warning.count()]).toEqual([origin, count]);
  }
});

test("an open Watch goes on with the next life of its server", async () => {
  const server = await world.startServer();
  const page = await world.open({
    origin: server.url,
    path: "/#/watch",
    expected: /Failed to load resource|ERR_CONNECTION/,
  });
  await page.locator(".chart canvas").nth(5).waitFor();
  await server.stop("SIGTERM");
  await page.getByText("not reachable").first().waitFor();
  await page.getByText("The server does not answer.", { exact: false }).first().waitFor();
  const next = await world.startServer(["--worker-id", "21", "--datacenter-id", "3"], server.address);
  await page.getByRole("row").filter({ hasText: "this server" }).getByText("3 / 21").waitFor();
  await call(page, next.url, "IdService/ReserveIds", { count: 123 });
  await page.getByText("The same in numbers").click();
  const greatest = page
    .getByRole("row", { name: /^IDs a second/ })
    .getByRole("cell")
    .nth(3);
  await expect.poll(async () => Number(await greatest.innerText())).toBe(123);
});

test("an old tab after an update goes on with what it has, and says what to do", async () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-update-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const server = await world.startServer();
  const page = await world.open({ origin: server.url, expected: /Failed to load resource|ERR_CONNECTION/ });
  await page.getByText("serving").waitFor();
  await server.stop("SIGTERM");
  // The next version: its chunks have other names.
  cpSync("dist", join(folder, "dist"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  renameScripts(join(folder, "dist/page"));
  const program = [process.execPath, join(folder, "dist/main.js")];
  const args = ["--store", `sqlite:${join(folder, "ids.db")}`];
  const updated = await startSnowlane({ program, args, listen: server.address });
  onTestFinished(() => void updated.child.kill("SIGKILL"));
  await page.getByText("serving").first().waitFor();
  await page.getByRole("link", { name: "Watch" }).click();
  await page.getByText("A part of this page cannot be loaded.").waitFor();
  await page.getByRole("row").filter({ hasText: "this server" }).waitFor();
  await page.getByRole("button", { name: "Load the page again" }).click();
  await page.locator(".chart canvas").nth(5).waitFor();
  await page.getByRole("row").filter({ hasText: "this server" }).waitFor();
  expect(await page.getByText("A part of this page cannot be loaded.").count()).toBe(0);
});

/** Gives the scripts of a page the names that another version of it would have. */
function renameScripts(folder: string): void {
  const manifestPath = join(folder, "manifest.json");
  const manifest = readFileSync(manifestPath, "utf8");
  const names = [...manifest.matchAll(/"\/assets\/([\w-]+)\.js":/g)].map(([, name]) => name!);
  const renamed = (text: string): string => names.reduce((next, name) => next.replaceAll(name, `${name}-next`), text);
  for (const file of ["index.html", ...names.map((name) => `assets/${name}.js`)]) {
    const text = renamed(readFileSync(join(folder, file), "utf8"));
    const next = join(folder, renamed(file));
    for (const end of ["", ".br", ".gz"]) rmSync(join(folder, file + end));
    writeFileSync(next, text);
    writeFileSync(`${next}.br`, brotliCompressSync(text));
    writeFileSync(`${next}.gz`, gzipSync(text));
  }
  // The address of the first page stays, so that its tag must differ.
  const entries = JSON.parse(renamed(manifest)) as Record<string, { hash: string }>;
  entries["/"]!.hash = "next";
  writeFileSync(manifestPath, JSON.stringify(entries));
}
