import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { findTool } from "../fetch/tools.ts";
import { type ChromiumBrowser, startChromium } from "../processes/chromium-browser.ts";
import { sequencesReady } from "../processes/sequences-ready.ts";
import { bundledProgram, bundleServer } from "../processes/server-bundle.ts";
import { type SnowlaneProcess, startSnowlane } from "../processes/snowlane-process.ts";

/** A server with the page as it is shipped, and a browser. */
export interface WebWorld {
  readonly server: () => SnowlaneProcess;
  /** Starts a further server of the bundle; it is stopped when the test is over. */
  readonly startServer: (args?: readonly string[], listen?: string) => Promise<SnowlaneProcess>;
  /**
   * Opens a page in a profile of its own. At the end of the test it fails if the page wrote on the console, broke its
   * Content-Security-Policy, or asked another origin for anything.
   */
  readonly open: (options?: OpenOptions) => Promise<Page>;
}

/** How a page is opened. */
interface OpenOptions {
  /** Behind the address of the server, Generate by default. */
  readonly path?: string;
  readonly origin?: string;
  readonly context?: BrowserContextOptions;
  /** Messages of the console that belong to the test, such as those of a server that is stopped. */
  readonly expected?: RegExp;
}

/** How long a step in the browser may take on a busy machine. */
const stepTimeoutMs = 60_000;

const reportViolations = `addEventListener("securitypolicyviolation", (event) =>
  console.error("CSP: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample));`;

/** Makes the world of a test file: the bundle is made, the server and the browser start once. */
export function webWorld(args: readonly string[] = []): WebWorld {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-web-"));
  let chromium: ChromiumBrowser;
  let server: SnowlaneProcess;
  let storeCount = 0;
  const start = async (more: readonly string[], listen?: string): Promise<SnowlaneProcess> => {
    const store = more.includes("--store") ? [] : ["--store", `sqlite:${join(folder, `${storeCount++}.db`)}`];
    const program = [process.execPath, bundledProgram];
    const args = [...store, ...more];
    const server = await startSnowlane({ args, program, ...(listen === undefined ? {} : { listen }) });
    // Their database is opened later: a call before that would be an error on the console. A closed server says 401.
    const flagsWithout = new Set(["--tls-cert", "--principals", "--sequence-stores"]);
    if (!more.some((flag) => flagsWithout.has(flag))) await sequencesReady(server.url);
    return server;
  };

  beforeAll(async () => {
    await bundleServer();
    [chromium, server] = await Promise.all([startChromium(addChineseFont), start(args)]);
  }, 600_000);

  afterAll(async () => {
    await chromium?.close();
    await server?.stop("SIGTERM");
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  });

  return {
    server: () => server,
    startServer: async (more = [], listen) => {
      const other = await start(more, listen);
      onTestFinished(async () => void (await other.stop("SIGTERM")));
      return other;
    },
    open: async ({ path = "/#/generate", origin = server.url, context: options = {}, expected } = {}) => {
      const context = await chromium.browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
      const page = await context.newPage();
      const wrong = watchPage(context, page, origin, expected);
      onTestFinished(async () => {
        await context.close();
        expect(wrong).toEqual([]);
      });
      page.setDefaultTimeout(stepTimeoutMs);
      await page.goto(origin + path);
      await page.getByRole("main").waitFor();
      // A text is read once more when the server has said its layout, and what was drawn by then goes for a moment.
      await page.locator(".pill.asking").waitFor({ state: "detached" });
      return page;
    },
  };
}

/** Chinese is drawn in characters, and not in boxes, on a machine that has no font for it. */
async function addChineseFont(home: string): Promise<void> {
  const { path } = await findTool("chinese-font");
  mkdirSync(join(home, ".fonts"));
  symlinkSync(path, join(home, ".fonts", basename(path)));
}

/** Gathers what a page must never do. */
function watchPage(
  context: BrowserContext,
  page: Page,
  origin: string,
  expected: RegExp | undefined,
): readonly string[] {
  const wrong: string[] = [];
  const add = (text: string): void => {
    if (expected?.test(text) !== true) wrong.push(text);
  };
  void page.addInitScript(reportViolations);
  page.on("console", (message) => add(`console: ${message.text()}`));
  page.on("pageerror", (error) => add(`error: ${error.message}`));
  context.on("request", (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== "blob:" && asked !== origin) add(`request: ${request.url()}`);
  });
  return wrong;
}
