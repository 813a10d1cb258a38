import { rolldown } from "rolldown";
import type { PublicId } from "../../src/text/public-id.ts";
import { startChromium } from "../support/processes/chromium-browser.ts";

/** Public IDs in a page of a real browser. */
export interface PublicIdsPage {
  /** Makes `callCount` calls, each of the last result. Gives the nanoseconds that pass a call. */
  readonly measure: (method: "hide" | "reveal", callCount: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** Loads the sources of public IDs into a page of Chromium, with a key of 32 bytes. */
export async function openPublicIdsPage(key: Uint8Array): Promise<PublicIdsPage> {
  const bundle = await rolldown({ input: "src/text/public-id.ts", platform: "browser" });
  const { output } = await bundle.generate({ format: "iife", name: "publicIds" });
  await bundle.close();
  const { browser, close } = await startChromium();
  const page = await browser.newPage();
  await page.addScriptTag({ content: output[0].code });
  return {
    measure: (method, callCount) => page.evaluate(measureInPage, { key: [...key], method, callCount }),
    close,
  };
}

/** Runs in the page, where `publicIds` is the bundle's global. */
function measureInPage(call: {
  readonly key: readonly number[];
  readonly method: "hide" | "reveal";
  readonly callCount: number;
}): number {
  const { publicIds } = globalThis as unknown as { publicIds: { PublicId: typeof PublicId } };
  const publicId = new publicIds.PublicId(Uint8Array.from(call.key));
  const fromMs = performance.now();
  let id = 1n;
  for (let index = 0; index < call.callCount; index++) id = publicId[call.method](id);
  return ((performance.now() - fromMs) * 1_000_000) / call.callCount;
}
