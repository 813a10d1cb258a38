import { createServer, type Server } from "node:http";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { presetLayout } from "../../src/snowflake/presets.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { type ChromiumBrowser, startChromium } from "../support/processes/chromium-browser.ts";
import { makeCertificates } from "../support/processes/certificates.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { findTool } from "../support/fetch/tools.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { expectVectorsFound, loadVectors } from "../vectors/load-vectors.ts";
import type { FoundVectors } from "../vectors/vector-reader.ts";

/** The sample page, and workers, in a real browser, served from another origin than the server that they call. */
const folder = mkdtempSync(join(tmpdir(), "snowlane-browser-"));
const samples = resolve("clients/typescript/samples/browser");
let site: Server;
let origin: string;
let server: SnowlaneProcess;
let chromium: ChromiumBrowser;

/** A script with all that it imports, as a user's bundler makes it of the installed package. */
async function bundle(input: string): Promise<string> {
  const entries = resolve("clients/typescript/src");
  const bundle = await rolldown({
    input,
    platform: "browser",
    resolve: {
      alias: { "@snowlane/client/web": join(entries, "web.ts"), "@snowlane/client": join(entries, "index.ts") },
    },
  });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  expect(output).toHaveLength(1);
  return output[0].code;
}

/** A worker that gets an ID from the server that it is sent. */
const workerCode = `
import { createWebClient } from "./client.js";
onmessage = async ({ data }) => {
  try {
    postMessage(String(await createWebClient({ endpoints: [data] }).nextId()));
  } catch (error) {
    postMessage(String(error));
  }
};`;

async function startSite(): Promise<void> {
  const script = (content: string) => ({ type: "text/javascript", content });
  const files = new Map([
    ["/", { type: "text/html", content: readFileSync(join(samples, "index.html"), "utf8") }],
    ["/page.js", script(await bundle(join(samples, "page.ts")))],
    ["/client.js", script(await bundle(resolve("clients/typescript/src/web.ts")))],
    ["/worker.js", script(workerCode)],
    ["/vectors.js", script(await bundle(resolve("test/vectors/vector-reader.ts")))],
    ["/vectors.json", { type: "application/json", content: JSON.stringify(loadVectors()) }],
  ]);
  site = createServer((request, response) => {
    const file = files.get(new URL(request.url ?? "/", "http://site").pathname);
    // A call gets no answer here.
    if (request.method === "POST") request.socket.destroy();
    else if (file === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": file.type }).end(file.content);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  [chromium] = await Promise.all([startChromium(), startSite()]);
  const store = `sqlite:${join(folder, "snowlane.db")}`;
  server = await startSnowlane({ args: ["--store", store, "--cors-origin", `https://app.example.com,${origin}`] });
});

afterAll(async () => {
  await chromium?.close();
  site?.close();
  await server?.stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
});

const patience = { timeout: 120_000 };

async function open(pageOrigin: string): Promise<Page> {
  const page = await chromium.browser.newPage();
  await page.goto(`${pageOrigin}/?server=${encodeURIComponent(server.url)}`, patience);
  return page;
}

test("a page of an allowed origin gets IDs without losing a digit", async () => {
  const page = await open(origin);
  const ids = page.locator("#ids li");
  await ids.first().waitFor(patience);
  for (let count = 1; count < 20; count++) await page.click("#more", patience);
  await ids.nth(19).waitFor(patience);
  const shown = await ids.evaluateAll((items) => items.map((item) => item.getAttribute("data-id") ?? ""));
  expect(new Set(shown).size).toBe(20);
  const texts = await ids.allTextContents();
  for (const [index, id] of shown.entries()) {
    expect(id).toMatch(/^\d{18,19}$/);
    const { createTimeMs, workerId } = parseId(presetLayout("twitter"), BigInt(id));
    expect(Math.abs(createTimeMs - Date.now())).toBeLessThan(600_000);
    expect(texts[index]).toBe(`${id}, made ${new Date(createTimeMs).toISOString()} by worker ${workerId}`);
  }
  // Doubles have no odd number up there: one that is odd has come whole.
  expect(shown.some((id) => BigInt(id) % 2n === 1n)).toBe(true);
  expect(await page.textContent("#failure", patience)).toBe("");
  await page.close();
});

test("a page of another origin gets none, and its error names --cors-origin", async () => {
  // The same files by another name are another origin.
  const other = origin.replace("127.0.0.1", "localhost");
  const page = await open(other);
  await page.locator("#failure", { hasText: "UNREACHABLE" }).waitFor(patience);
  const action = `A page of another origin needs a server with --cors-origin ${other}.`;
  expect(await page.textContent("#failure", patience)).toContain(action);
  expect(await page.locator("#ids li").count()).toBe(0);
  await page.close();
});

/** What a worker of a page answers. */
async function askWorker(page: Page, endpoint: string): Promise<string> {
  const answer = await page.evaluate(`new Promise((resolve, reject) => {
    const worker = new Worker("/worker.js", { type: "module" });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(${JSON.stringify(endpoint)});
  })`);
  return String(answer);
}

test("a worker of a page gets the hint at --cors-origin as the page does, and only where the origin may be the cause", async () => {
  const allowed = await open(origin);
  expect(await askWorker(allowed, server.url)).toMatch(/^\d{18,19}$/);
  // Of the same origin: nothing is to be allowed.
  expect(await askWorker(allowed, origin)).toMatch(/^UNREACHABLE: The server does not answer: (?!.*--cors-origin)/);
  await allowed.close();
  const other = origin.replace("127.0.0.1", "localhost");
  const refused = await open(other);
  expect(await askWorker(refused, server.url)).toMatch(/^UNREACHABLE: The server does not answer: .*--cors-origin /);
  expect(await askWorker(refused, server.url)).toContain(`--cors-origin ${other}. (${server.url})`);
  await refused.close();
});

test("the vectors hold in a browser", async () => {
  const page = await open(origin);
  const found = await page.evaluate(`(async () => {
    const [{ findVectors }, files] = await Promise.all([import("/vectors.js"), fetch("/vectors.json")]);
    return findVectors(await files.json());
  })()`);
  expectVectorsFound(found as FoundVectors);
  await page.close();
});

test("a browser that trusts an authority as docs/tls.md says gets IDs over TLS, and another does not", async () => {
  const certificates = await makeCertificates();
  onTestFinished(certificates.remove);
  const tls = ["--tls-cert", certificates.server.certFile, "--tls-key", certificates.server.keyFile];
  const secure = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "tls.db")}`, ...tls] });
  onTestFinished(async () => {
    await secure.stop("SIGTERM");
  });
  const endpoint = secure.url.replace("http://127.0.0.1", "https://localhost");
  const trusting = await startChromium(async (home) => {
    const { path, env } = await findTool("certutil");
    const lines = blocksOf("docs/tls.md", "sh").find((block) => block.includes("certutil")) ?? "";
    const PATH = `${dirname(path)}:${process.env["PATH"]}`;
    await runCommand("sh", ["-ec", lines], { cwd: certificates.folder, env: { ...env, PATH, HOME: home } });
  });
  onTestFinished(trusting.close);
  const page = await trusting.browser.newPage();
  await page.goto(endpoint, patience);
  const call = `fetch("/snowlane.v1.IdService/NextId", {
    method: "POST", headers: { "content-type": "application/json" }, body: "{}" }).then((answer) => answer.json())`;
  expect(await page.evaluate(call)).toEqual({
    id: expect.stringMatching(/^\d{18,19}$/),
    deployment: expect.any(Number),
  });
  const stranger = await chromium.browser.newPage();
  await expect(stranger.goto(endpoint, patience)).rejects.toThrow("ERR_CERT_AUTHORITY_INVALID");
  await stranger.close();
});
