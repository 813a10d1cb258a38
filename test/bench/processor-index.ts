/** How fast a browser's processor is, so that a page can be slowed down to the same device on every machine. */
import type { Browser } from "playwright-core";

/**
 * The index of the phone as which the page is loaded: a quarter of that of a fast desktop, 1,500 to 2,000, by the table
 * in Lighthouse's documentation (docs/throttling.md), which counts 125 to 800 as a phone of the middle.
 */
export const phoneIndex = 440;

/**
 * Measures the index by Lighthouse's definition: the mean of two rates a second, each divided by ten. One counts texts
 * of 10,000 characters that are made character by character, the other copies of an array of 100,000 numbers.
 *
 * @returns The median of three measurements.
 */
export async function processorIndex(browser: Browser): Promise<number> {
  const page = await browser.newPage();
  try {
    const indices: number[] = [];
    for (let round = 0; round < 3; round++) indices.push(Number(await page.evaluate(measureIndex)));
    return indices.toSorted((a, b) => a - b)[1]!;
  } finally {
    await page.close();
  }
}

/** From inside the page. */
const measureIndex = `(() => {
  const rate = (work) => {
    const fromMs = performance.now();
    let times = 0;
    do work(times++);
    while (performance.now() - fromMs < 500);
    return times / ((performance.now() - fromMs) / 1000);
  };
  let longest = 0;
  const strings = rate(() => {
    let text = "";
    for (let index = 0; index < 10000; index++) text += "a";
    longest = Math.max(longest, text.length);
  });
  const arrays = [0, 1].map(() => Array.from({ length: 100000 }, (_, index) => index));
  const copies = rate((times) => {
    const from = arrays[times % 2];
    const to = arrays[1 - (times % 2)];
    for (let index = 0; index < from.length; index++) to[index] = from[index];
  });
  return (strings + copies) / 20;
})()`;
