/** The page: how large it is, how soon it is there, how fast it works, and what it costs its server. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChromium } from "../support/processes/chromium-browser.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type BenchServer, snowlane } from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { median } from "./interleave.ts";
import { runH2load } from "./load.ts";
import { measureLines, measureLoad, measureMillion, measureOneId } from "./page-browser.ts";
import { measureGet, watchAs } from "./page-server.ts";
import { formatFigure } from "./report.ts";

const rounds = 10;
const watcherCount = 10;
const getRequests = 20_000;
const pacedCalls = { calls: 20_000, perSecond: 4_000, connections: 40, streams: 100, openEachMs: 11 };

/** A figure with its budget: at most so much. */
type Row = readonly [measure: string, figure: number, budget: number, unit: string];

const columns = ["measure", "figure", "budget", "met"];
const tableOf = (title: string, rows: readonly Row[], note?: string): Finding => ({
  title,
  ...(note === undefined ? {} : { note }),
  columns,
  rows: rows.map(([measure, figure, budget, unit]) => [
    measure,
    `${formatFigure(figure)} ${unit}`,
    `${formatFigure(budget)} ${unit}`,
    figure <= budget ? "yes" : "no",
  ]),
});

/** The page. */
export const pageBenchmark: Benchmark = {
  name: "page",
  title: "The page",
  about: [
    "The page as it is shipped, in Chromium, from a server on the same machine. Loads begin with an empty cache and a",
    `processor that Chromium slows down fourfold; they are medians of ${rounds}. "Usable" is when the first button stands`,
    "there. All else is at full speed.",
  ].join("\n"),
  packages: ["lit-html", "uplot", "@connectrpc/connect-web"],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const findings = [sizes()];
    const server = await snowlane("page");
    try {
      findings.push(await inBrowser(server, log), await onServer(log));
    } finally {
      await server.stop();
    }
    return findings;
  },
};

function sizes(): Finding {
  const manifest = JSON.parse(readFileSync("dist/page/manifest.json", "utf8")) as Readonly<
    Record<string, { readonly sizes: { readonly br: number } }>
  >;
  const kilobytes = (pattern: RegExp): number =>
    Object.entries(manifest)
      .filter(([path]) => pattern.test(path))
      .reduce((sum, [, file]) => sum + file.sizes.br, 0) / 1_000;
  return tableOf("Sizes, compressed by brotli", [
    [
      "first load: HTML, style, Generate, Parse, Learn",
      kilobytes(/^\/(?!openapi|assets\/(server|charts|zh|sw)-)/),
      45,
      "kB",
    ],
    ["calls to the server", kilobytes(/^\/assets\/server-/), 35, "kB"],
    ["charts", kilobytes(/^\/assets\/charts-/), 22, "kB"],
    ["Chinese", kilobytes(/^\/assets\/zh-/), 8, "kB"],
    ["Swahili", kilobytes(/^\/assets\/sw-/), 8, "kB"],
  ]);
}

async function inBrowser({ port }: BenchServer, log: (line: string) => void): Promise<Finding> {
  const url = `http://127.0.0.1:${port}`;
  const { browser, close } = await startChromium();
  try {
    await measureLoad(browser, url);
    const loads = [];
    for (let round = 0; round < rounds; round++) loads.push(await measureLoad(browser, url));
    log("loaded");
    const oneMs = await measureOneId(browser, url);
    const lines = await measureLines(browser, url);
    log("read");
    const million = await measureMillion(browser, url);
    return tableOf(
      "In the browser",
      [
        ["first paint", median(loads.map(({ paintMs }) => paintMs)), 300, "ms"],
        ["usable", median(loads.map(({ usableMs }) => usableMs)), 500, "ms"],
        ["one ID, read and drawn", oneMs, 1, "ms"],
        ["10,000 lines: the longest task", lines.longestTaskMs, 100, "ms"],
        ["a million IDs, ready to download", million.tookMs, 4_000, "ms"],
        ["a million IDs: growth of the heap", million.heapMb, 120, "MB"],
        ["Cancel", million.cancelMs, 1_000, "ms"],
      ],
      `All 10,000 lines took ${formatFigure(lines.tookMs)} ms. A longest task of 0 means that none was above 50 ms.`,
    );
  } finally {
    await close();
  }
}

async function onServer(log: (line: string) => void): Promise<Finding> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const server = await snowlane("page");
  try {
    const load = () => runH2load(server, pacedCalls, folder);
    await load();
    const beforeMb = server.residentMb();
    await (await fetch(`http://127.0.0.1:${server.port}/`)).text();
    const afterMb = server.residentMb();
    const shares = [];
    for (let round = 0; round < 5; round++) {
      const alone = p99(await load());
      const end = watchAs(watcherCount, server.port);
      shares.push(p99(await load()) / alone);
      end();
      log(`round ${round + 1} of 5`);
    }
    const getUs = await measureGet(server, getRequests);
    return tableOf(
      "On the server",
      [
        ["memory once the page was opened", Math.max(0, afterMb - beforeMb), 1, "MB"],
        [`p99 of NextId beside ${watcherCount} pages that watch, against none`, median(shares), 1.1, "x"],
        ["processor time of GET /", getUs, 200, "µs"],
      ],
      [
        `The calls of the ${watcherCount} pages are made by a program, as the pages make them: the browsers themselves would`,
        `take the processor. NextId comes at ${pacedCalls.perSecond} calls/s by h2load; the median of 5 rounds.`,
      ].join("\n"),
    );
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

function p99({ latenciesMs }: { readonly latenciesMs: readonly number[] }): number {
  return latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? Number.NaN;
}
