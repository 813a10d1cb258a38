import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page, Response } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { runCommand } from "../support/processes/run-command.ts";
import { takesConnections } from "../support/servers/proxy.ts";
import { TestServer } from "../support/servers/test-server.ts";
import { webWorld } from "../support/web/web-world.ts";

/** The page as `npm run page:site` writes it, from a file server that knows nothing of it. */

const world = webWorld();
const root = mkdtempSync(join(tmpdir(), "snowlane-site-"));
const site = join(root, "a", "b");

beforeAll(async () => {
  const said = await runCommand(process.execPath, [
    "tools/page-site.ts",
    "--to",
    site,
    "--url",
    "https://ids.example/lab/",
  ]);
  expect(said).toContain(site);
  return () => rmSync(root, { recursive: true, force: true });
});

/** Serves a folder by Python's file server. */
async function serveFiles(folder: string): Promise<TestServer> {
  const server = await TestServer.start({
    name: "files",
    command: async (_data, port) => ({
      path: "python3",
      args: ["-m", "http.server", String(port), "--bind", "127.0.0.1", "--directory", folder],
    }),
    isReady: takesConnections,
    url: (port) => `http://127.0.0.1:${port}`,
  });
  onTestFinished(() => server.stop());
  return server;
}

/** Uses what needs no server: the words of all languages are there, too. */
async function useWithoutServer(page: Page): Promise<void> {
  await page.getByText("without a server", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Generate", exact: true }).click();
  await page.locator(".when.id").waitFor();
  expect(await page.getByRole("button", { name: "From this server" }).isDisabled()).toBe(true);
  await page.getByText("This site has no server behind it, so IDs are only made by hand.").waitFor();
  await page.getByRole("button", { name: "Read it" }).click();
  await page.getByText("made by worker 0 of datacenter 0").waitFor();
  await page.getByRole("link", { name: "Learn" }).click();
  await page.getByText("EPOCH_MS").first().waitFor();
  await page.getByRole("link", { name: "Watch" }).click();
  await page.getByText("The page that a Snowlane server serves shows that server here.").waitFor();
  await page.getByRole("link", { name: "Proof", exact: true }).click();
  await page.locator("#proof canvas").waitFor();
  await page.getByRole("button", { name: "Kiswahili" }).click();
  await page.getByRole("link", { name: "Fuatilia" }).waitFor();
  await page.getByRole("button", { name: "English" }).click();
  await page.getByRole("link", { name: "Generate" }).click();
}

test.each([
  ["the root of a file server", site, "/"],
  ["a folder of a file server", root, "/a/b/"],
])("at %s, all that needs no server works, and no server is looked for", async (_name, folder, path) => {
  const { url } = await serveFiles(folder);
  const page = await world.open({ origin: url, path });
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await useWithoutServer(page);
  const others = asked.filter((address) => !address.startsWith(`${url}${path}assets/`));
  expect(others.filter((address) => address !== `${url}${path}service-worker.js`)).toEqual([]);
});

test("PAGE 26: a shared link of the site shows a picture, by its whole address, and a home screen its icon", async () => {
  const { url } = await serveFiles(root);
  const page = await world.open({ origin: url, path: "/a/b/" });
  const html = await (await page.request.get(`${url}/a/b/`)).text();
  const [, picture = ""] = /og:image" content="([^"]+)"/.exec(html) ?? [];
  expect(picture).toMatch(/^https:\/\/ids\.example\/lab\/assets\/social-/);
  expect((await page.request.get(picture.replace("https://ids.example/lab", `${url}/a/b`))).status()).toBe(200);
  const [, manifest = ""] = /rel="manifest" href="([^"]+)"/.exec(html) ?? [];
  const manifestUrl = new URL(manifest, `${url}/a/b/`);
  const { start_url: start, icons } = await (await page.request.get(manifestUrl.href)).json();
  expect(new URL(start, manifestUrl).href).toBe(`${url}/a/b/`);
  expect((await page.request.get(new URL(icons[0].src, manifestUrl).href)).status()).toBe(200);
});

/** Waits until the worker answers the page, as it does from the second load on. */
async function loadByWorker(page: Page): Promise<void> {
  await page.evaluate("navigator.serviceWorker.ready.then(() => undefined)");
  await page.reload();
  await page.getByRole("main").waitFor();
  await expect.poll(() => page.evaluate("navigator.serviceWorker.controller !== null")).toBe(true);
}

test("after one visit, the site works without its file server", async () => {
  const server = await serveFiles(root);
  const page = await world.open({ origin: server.url, path: "/a/b/" });
  await page.evaluate("navigator.serviceWorker.ready.then(() => undefined)");
  await server.stop();
  await page.reload();
  await useWithoutServer(page);
});

test("the worker answers the files of the site alone: calls, other files and other folders pass it", async () => {
  const { url } = await serveFiles(root);
  writeFileSync(join(site, "other.txt"), "other");
  const page = await world.open({ origin: url, path: "/a/b/", expected: /status of (404|501)/ });
  await loadByWorker(page);
  const answers: Response[] = [];
  page.on("response", (response) => answers.push(response));
  const style = readdirSync(join(site, "assets")).find((name) => /^page-.*\.css$/.test(name));
  const ask = (path: string, method = "GET") =>
    page.evaluate(`fetch(${JSON.stringify(path)}, { method: "${method}" }).then(() => undefined)`);
  await ask(`assets/${style}`);
  await ask("other.txt");
  await ask("snowlane.v1.IdService/NextId", "POST");
  await ask("snowlane.v1.IdService/GetInfo");
  await ask(`assets/${style}`, "POST");
  await ask("/a/");
  const byWorker = answers.map((response) => [response.url().slice(url.length), response.fromServiceWorker()]);
  expect(byWorker).toEqual([
    [`/a/b/assets/${style}`, true],
    ["/a/b/other.txt", false],
    ["/a/b/snowlane.v1.IdService/NextId", false],
    ["/a/b/snowlane.v1.IdService/GetInfo", false],
    [`/a/b/assets/${style}`, false],
    ["/a/", false],
  ]);
});

test("a further version is used as a whole once no tab has the one before open", async () => {
  const server = await serveFiles(root);
  const first = await world.open({ origin: server.url, path: "/a/b/" });
  await loadByWorker(first);
  const copies = () => first.evaluate("caches.keys()") as Promise<readonly string[]>;
  const [before] = await copies();
  const file = join(site, "service-worker.js");
  const text = readFileSync(file, "utf8");
  const version = before!.split(" ").at(-1)!;
  expect(text.split(version)).toHaveLength(2);
  writeFileSync(file, text.replace(version, "next"));
  onTestFinished(() => writeFileSync(file, text));
  await first.evaluate("navigator.serviceWorker.ready.then((registration) => registration.update())");
  await expect.poll(copies).toHaveLength(2);
  // A page of the same origin, which is none of the site.
  const second = await first.context().newPage();
  await second.goto(`${server.url}/a/`);
  await first.close();
  await expect.poll(() => second.evaluate("caches.keys()")).toEqual([before!.replace(version, "next")]);
  await second.goto(`${server.url}/a/b/`);
  await second.getByText("without a server", { exact: true }).waitFor();
});

test("the page that a server serves has no service worker, and its policy lets nobody register one", async () => {
  const page = await world.open({ expected: /Content Security Policy|CSP: |TrustedScriptURL/ });
  await page.getByText("serving").waitFor();
  const registered = "navigator.serviceWorker.getRegistrations().then(({ length }) => length)";
  expect(await page.evaluate(registered)).toBe(0);
  const register = `navigator.serviceWorker.register("/assets/x.js").then(() => "registered", ({ name }) => name)`;
  expect(
    await page.evaluate(`(async () => { try { return await ${register}; } catch ({ name }) { return name; } })()`),
  ).toBe("TypeError");
  const paths = Object.keys(JSON.parse(readFileSync("dist/page/manifest.json", "utf8")) as object);
  expect(paths.filter((path) => /service-worker|offline|webmanifest/.test(path))).toEqual([]);
});
