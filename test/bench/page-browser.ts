/** The page in a real Chromium: how soon it is there, and how fast it works. */
import type { Browser, Page } from "playwright-core";
import { percentile } from "./load.ts";

/** When a page that was never loaded before was there, in milliseconds after the request for it. */
export interface LoadTimes {
  readonly paintMs: number;
  readonly usableMs: number;
}

/** Opens a page in a fresh profile, with its processor slowed down by this factor. */
async function open(browser: Browser, url: string, slowdown: number): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  if (slowdown > 1) {
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  }
  await page.addInitScript(noteUsable);
  await page.goto(url);
  return page;
}

/**
 * Notes when the first control was drawn and can be used, and tasks that block the page for more than 50 ms. From
 * inside the page: a test's question for a button by its role takes the page's processor for longer than its own start.
 */
const noteUsable = `
  globalThis.longestTaskMs = 0;
  globalThis.painted = new Promise((resolve) =>
    new PerformanceObserver((list) => {
      for (const { startTime } of list.getEntriesByName("first-contentful-paint")) resolve(startTime);
    }).observe({ type: "paint", buffered: true }),
  );
  let tell;
  globalThis.usable = new Promise((resolve) => (tell = resolve));
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTaskMs = Math.max(longestTaskMs, duration);
  }).observe({ type: "longtask", buffered: true });
  new MutationObserver((_, observer) => {
    if (document.querySelector("textarea") === null) return;
    observer.disconnect();
    // A task behind the frame that shows it.
    requestAnimationFrame(() => setTimeout(() => tell(performance.now())));
  }).observe(document, { childList: true, subtree: true });`;

/** Loads the page once, with nothing in the cache and a processor slowed down by this factor. */
export async function measureLoad(browser: Browser, url: string, slowdown: number): Promise<LoadTimes> {
  const page = await open(browser, url, slowdown);
  try {
    const times = await page.evaluate(`Promise.all([painted, usable]).then(([paintMs, usableMs]) => ({
      paintMs,
      usableMs,
    }))`);
    await page.getByRole("textbox").waitFor();
    return times as LoadTimes;
  } finally {
    await page.context().close();
  }
}

/** How long it takes to read and draw one ID that is typed, in milliseconds: the median of 200. */
export async function measureOneId(browser: Browser, url: string): Promise<number> {
  const page = await open(browser, `${url}/#/parse`, 1);
  try {
    await page.getByLabel("Text with IDs").waitFor();
    const medianMs = await page.evaluate(`(async () => {
      const field = document.querySelector("textarea");
      const times = [];
      for (let count = 0; count < 220; count++) {
        const fromMs = performance.now();
        field.value = String(1541815603606036522n + BigInt(count) * 4194304n);
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
        // The page draws in a microtask.
        await Promise.resolve().then(() => undefined).then(() => undefined);
        times.push(performance.now() - fromMs);
        await new Promise(requestAnimationFrame);
      }
      return times.slice(20).sort((a, b) => a - b)[100];
    })()`);
    return Number(medianMs);
  } finally {
    await page.context().close();
  }
}

/** Pastes 10,000 lines. Gives how long they took, and the longest task, in milliseconds; 0: none above 50. */
export async function measureLines(browser: Browser, url: string): Promise<{ tookMs: number; longestTaskMs: number }> {
  const page = await open(browser, `${url}/#/parse`, 1);
  try {
    await page.getByLabel("Text with IDs").waitFor();
    await page.evaluate("longestTaskMs = 0");
    const fromMs = performance.now();
    await page.evaluate(`{
      const field = document.querySelector("textarea");
      field.value = Array.from({ length: 10000 }, (_, at) => String(1541815603606036522n + BigInt(at))).join("\\n");
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }`);
    await page.getByText("10,000 lines read").waitFor();
    const tookMs = performance.now() - fromMs;
    return { tookMs, longestTaskMs: Number(await page.evaluate("longestTaskMs")) };
  } finally {
    await page.context().close();
  }
}

/**
 * How long a frame of Proof takes to draw and to lay out while a run with equal IDs is played, on a processor slowed
 * down fourfold, in milliseconds: of some 150 frames, one in twenty takes longer.
 */
export async function measureProofFrame(browser: Browser, url: string): Promise<number> {
  const page = await open(browser, `${url}/#/proof?seed=1&store=file&rule=own-clock&f=back.4000.0,kill.4800.0`, 4);
  try {
    await page
      .getByText(/came twice, the first/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "4×" }).click();
    await page.evaluate(`{
      globalThis.frames = [];
      const request = requestAnimationFrame.bind(globalThis);
      globalThis.requestAnimationFrame = (task) => request((nowMs) => {
        const fromMs = performance.now();
        task(nowMs);
        // The layout that the browser would do next.
        document.body.getBoundingClientRect();
        frames.push(performance.now() - fromMs);
      });
    }`);
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    const frames = (await page.evaluate("frames")) as readonly number[];
    return percentile(
      frames.toSorted((a, b) => a - b),
      0.95,
    );
  } finally {
    await page.context().close();
  }
}

/** A million IDs from the server. */
export interface MillionTimes {
  readonly tookMs: number;
  /** The most that the page's heap grew. */
  readonly heapMb: number;
  readonly cancelMs: number;
}

/** Gets a million IDs into a file, and then begins again and cancels. */
export async function measureMillion(browser: Browser, url: string): Promise<MillionTimes> {
  const page = await open(browser, `${url}/#/generate`, 1);
  try {
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const heapMb = async (): Promise<number> => {
      const { metrics } = await session.send("Performance.getMetrics");
      return (metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0) / 1e6;
    };
    await page.getByText("serving").first().waitFor();
    const beforeMb = await heapMb();
    let mostMb = beforeMb;
    const looking = setInterval(
      () =>
        void heapMb().then(
          (now) => (mostMb = Math.max(mostMb, now)),
          () => undefined,
        ),
      100,
    );
    const generate = page.getByRole("button", { name: "Generate" });
    await page.getByLabel("How many").fill("1000000");
    const fromMs = performance.now();
    await generate.click();
    await page.getByText("1,000,000 IDs, ready to download").waitFor();
    const tookMs = performance.now() - fromMs;
    clearInterval(looking);
    // In the page: by the time that a driver found the button, a fast run is over.
    const cancelled = page.evaluate(`new Promise((resolve) => {
      const look = () => {
        const cancel = [...document.querySelectorAll("form button")].find((button) => button.innerText === "Cancel");
        if (cancel === undefined) return void requestAnimationFrame(look);
        const fromMs = performance.now();
        cancel.click();
        const wait = () =>
          cancel.isConnected ? requestAnimationFrame(wait) : resolve(performance.now() - fromMs);
        wait();
      };
      look();
    })`);
    await generate.click();
    return { tookMs, heapMb: mostMb - beforeMb, cancelMs: Number(await cancelled) };
  } finally {
    await page.context().close();
  }
}
