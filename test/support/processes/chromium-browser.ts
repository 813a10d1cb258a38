import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { findTool } from "../fetch/tools.ts";

/** A real browser without a window. */
export interface ChromiumBrowser {
  readonly browser: Browser;
  readonly close: () => Promise<void>;
}

/**
 * Starts Chromium with a profile of its own, which asks nothing of the network by itself.
 *
 * @param prepare - Fills the home folder of the user whose browser it is.
 * @param more - Further flags of the command line.
 */
export async function startChromium(
  prepare?: (home: string) => Promise<void>,
  more: readonly string[] = [],
): Promise<ChromiumBrowser> {
  const { path, env } = await findTool("chromium");
  const folder = mkdtempSync(join(tmpdir(), "snowlane-chromium-"));
  await prepare?.(folder);
  const quiet = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
  // In a container, /dev/shm may be too small for it.
  const args = [
    ...more,
    "--no-sandbox",
    "--disable-dev-shm-usage",
    ...quiet,
    "--disable-component-update",
    "--disable-sync",
  ];
  // HOME: the files that it writes into a user's folder go with the test.
  const environment = { ...(process.env as Record<string, string>), ...env, HOME: folder };
  const browser = await chromium.launch({ executablePath: path, args, env: environment, timeout: 180_000 });
  return {
    browser,
    close: async () => {
      await browser.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
    },
  };
}
