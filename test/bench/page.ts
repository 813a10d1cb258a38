/** The page: how large it is, how soon it is there, how fast it works, and what it costs its server. */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { startChromium } from "../support/processes/chromium-browser.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type BenchServer, snowlane } from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { interleave, median, medianShare } from "./interleave.ts";
import { percentile, runH2load } from "./load.ts";
import {
  type LoadTimes,
  measureLines,
  measureLoad,
  measureMillion,
  measureOneId,
  measureProofFrame,
} from "./page-browser.ts";
import { measureGet, watchAs } from "./page-server.ts";
import { formatFigure } from "./report.ts";
import { phoneIndex, processorIndex } from "./processor-index.ts";
import { measureStart } from "./start.ts";

const rounds = 10;
const watcherCount = 10;
const getRequests = 20_000;
const watchRounds = 8;
/** This many pages make the code of their calls as warm in seconds as ten do in minutes. */
const warmingCount = 100;
/** By then all of them are open, and ask no more for the five minutes that went before. */
const watchersOpenMs = 13_000;
const pacedCalls = { calls: 40_000, perSecond: 4_000, connections: 40, streams: 100, openEachMs: 11 };

/** What {@link measureLoad} waits for, and nothing else. */
const emptyPage = `<!doctype html><title>Empty</title><h1>Empty</h1><textarea></textarea>`;

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
    "The page as it is shipped, in Chromium, from a server on the same machine. Loads begin with an empty cache, and are",
    `medians of ${rounds}. For them Chromium slows the processor down to a phone of the middle, index ${phoneIndex} by Lighthouse's`,
    'measure: that is a fast desktop slowed down fourfold, and the same device on every machine. "Usable" is when the',
    "first button was drawn and answers. All else is at full speed.",
  ].join("\n"),
  packages: ["lit-html", "uplot", "@connectrpc/connect-web"],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const findings = [sizes()];
    const server = await snowlane("page");
    try {
      findings.push(await inBrowser(server, log), await onServer(log), await unopened(log));
    } finally {
      await server.stop();
    }
    return findings;
  },
};

/** The files of the page as it is shipped, by their paths. */
function pageManifest(): Readonly<Record<string, { readonly sizes: { readonly br: number } }>> {
  return JSON.parse(readFileSync("dist/page/manifest.json", "utf8")) as ReturnType<typeof pageManifest>;
}

/** The size of the files whose path matches, compressed by brotli. */
function kilobytes(pattern: RegExp): number {
  const files = Object.entries(pageManifest()).filter(([path]) => pattern.test(path));
  return files.reduce((sum, [, file]) => sum + file.sizes.br, 0) / 1_000;
}

function sizes(): Finding {
  return tableOf("Sizes, compressed by brotli", [
    [
      "first load: HTML, style, Generate, Parse",
      kilobytes(/^\/(?!openapi|assets\/(server|charts|learn|proof|simulation|safety|code|zh|sw|finder|list)-)/),
      50,
      "kB",
    ],
    ["calls to the server", kilobytes(/^\/assets\/server-/), 36, "kB"],
    ["Learn, with its programs", kilobytes(/^\/assets\/learn-/), 10, "kB"],
    ["charts", kilobytes(/^\/assets\/charts-/), 22, "kB"],
    ["the proof, with its worker", kilobytes(/^\/assets\/(proof|simulation)-(?!(en|zh|sw)-)/), 45, "kB"],
    ["Chinese", kilobytes(/^\/assets\/zh-/), 10, "kB"],
    ["Swahili", kilobytes(/^\/assets\/sw-/), 10, "kB"],
  ]);
}

async function inBrowser({ port }: BenchServer, log: (line: string) => void): Promise<Finding> {
  const url = `http://127.0.0.1:${port}`;
  const { browser, close } = await startChromium();
  try {
    const index = await processorIndex(browser);
    const slowdown = Math.max(1, index / phoneIndex);
    const { loads, empty } = await measureLoads(browser, url, slowdown);
    log("loaded");
    const oneMs = await measureOneId(browser, url);
    const lines = await measureLines(browser, url);
    log("read");
    const million = await measureMillion(browser, url);
    const frameMs = await measureProofFrame(browser, url);
    return tableOf(
      "In the browser",
      [
        ["first paint", median(paints(loads)), 300, "ms"],
        ["usable", median(loads.map(({ usableMs }) => usableMs)), 500, "ms"],
        ["one ID, read and drawn", oneMs, 1, "ms"],
        ["10,000 lines: the longest task", lines.longestTaskMs, 100, "ms"],
        ["a million IDs, ready to download", million.tookMs, 4_000, "ms"],
        ["a million IDs: growth of the heap", million.heapMb, 120, "MB"],
        ["Cancel", million.cancelMs, 1_000, "ms"],
        ["a frame of Proof on a processor slowed down fourfold: p95", frameMs, 8, "ms"],
      ],
      [
        `The index of this machine was ${index.toFixed(0)}, so loads were slowed down ${slowdown.toFixed(1)} times. All 10,000 lines took`,
        `${formatFigure(lines.tookMs)} ms. A longest task of 0 means that none was above 50 ms.`,
        "",
        "What the browser itself takes was measured in turn with that: an empty page, which is a heading and a text field without",
        `style or script from a bare node:http, had its first paint after ${medianMs(empty, "paintMs")} ms, and was usable after ${medianMs(empty, "usableMs")} ms.`,
      ].join("\n"),
    );
  } finally {
    await close();
  }
}

/** Loads in turn of the page and of one that has nothing in it but what a load waits for. */
async function measureLoads(
  browser: Browser,
  url: string,
  slowdown: number,
): Promise<Record<"loads" | "empty", LoadTimes[]>> {
  const bare = createServer((_, response) => response.setHeader("content-type", "text/html").end(emptyPage));
  await once(bare.listen(0, "127.0.0.1"), "listening");
  const { port } = bare.address() as AddressInfo;
  try {
    const times: Record<"loads" | "empty", LoadTimes[]> = { loads: [], empty: [] };
    for (let round = 0; round <= rounds; round++) {
      times.loads.push(await measureLoad(browser, url, slowdown));
      times.empty.push(await measureLoad(browser, `http://127.0.0.1:${port}/`, slowdown));
    }
    // The first of each warms up.
    return { loads: times.loads.slice(1), empty: times.empty.slice(1) };
  } finally {
    bare.close();
    bare.closeAllConnections();
  }
}

const paints = (loads: readonly LoadTimes[]): number[] => loads.map(({ paintMs }) => paintMs);

const medianMs = (loads: readonly LoadTimes[], time: keyof LoadTimes): string =>
  formatFigure(median(loads.map((load) => load[time])));

async function onServer(log: (line: string) => void): Promise<Finding> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const server = await snowlane("page");
  try {
    const load = async (): Promise<number> =>
      percentile((await runH2load(server, pacedCalls, folder)).latenciesMs, 0.99);
    await load();
    const beforeMb = server.residentMb();
    await fetchWholePage(server);
    const afterMb = server.residentMb();
    const loadBeside = async (count: number): Promise<number> => {
      const end = watchAs(count, server.port);
      await sleep(watchersOpenMs);
      const p99Ms = await load();
      await end();
      return p99Ms;
    };
    await loadBeside(warmingCount);
    const contestants = [
      { name: "none", run: load },
      { name: "pages", run: () => loadBeside(watcherCount) },
      { name: "none again", run: load },
    ];
    const p99s = await interleave(contestants, watchRounds, log);
    const p99sOf = (name: string): readonly number[] => p99s.get(name) ?? [];
    const again = p99sOf("none again");
    // Those before and after it: what changes on the machine meanwhile meets both sides of the ratio.
    const without = p99sOf("none").map((ms, round) => (ms + again[round]!) / 2);
    const watchUs = await measureWatch(server);
    const getUs = await measureGet(server, getRequests);
    return tableOf(
      "On the server",
      [
        ["memory once every file of the page was fetched", Math.max(0, afterMb - beforeMb), 1, "MB"],
        [`p99 of NextId beside ${watcherCount} pages, against none`, medianShare(p99sOf("pages"), without), 1.1, "x"],
        ["processor time of GET /", getUs, 200, "µs"],
      ],
      watchNote(
        contestants.map(({ name }) => median(p99sOf(name))),
        medianShare(again, p99sOf("none")),
        watchUs,
      ),
    );
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Fetches every file of the page in both compressed forms, so that the server holds all that it ever keeps of it. */
async function fetchWholePage({ port }: BenchServer): Promise<void> {
  for (const path of Object.keys(pageManifest())) {
    for (const coding of ["br", "gzip"]) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { "accept-encoding": coding } });
      if (answer.headers.get("content-encoding") !== coding) throw new Error(`${path} came without ${coding}`);
      await answer.arrayBuffer();
    }
  }
}

const startWith = (page: "on" | "off") => () => measureStart("dist/main.js", ["--page", page]);

/** What a server that has the page costs while nobody opens it, beside one that has none. */
async function unopened(log: (line: string) => void): Promise<Finding> {
  const contestants = [
    { name: "--page off", run: startWith("off") },
    { name: "--page on", run: startWith("on") },
    { name: "--page off, again", run: startWith("off") },
  ];
  const results = await interleave(contestants, rounds, log);
  return {
    title: "While nobody opens it",
    note: `Medians of ${rounds} rounds in which the three take turns. The last shows what the measuring itself brings.`,
    columns: ["server", "ms to the first ID", "MB at rest"],
    rows: contestants.map(({ name }) => {
      const found = results.get(name) ?? [];
      const [firstIdMs, idleMb] = [found.map((one) => one.firstIdMs), found.map((one) => one.idleMb)];
      return [name, median(firstIdMs).toFixed(0), median(idleMb).toFixed(1)];
    }),
  };
}

function watchNote(medianMs: readonly number[], noise: number, watchUs: number): string {
  const { calls, perSecond } = pacedCalls;
  const p99s = medianMs.map((ms) => formatFigure(ms)).join(", ");
  return [
    `A program makes the calls of ${watcherCount} pages that show Watch, at the times, in the form and with the headers of`,
    "Chromium. The browsers of operators run on other machines than the server, and ten of them here would take the",
    "processor that is measured; the program has the lowest priority for the same reason. The code of these calls is",
    "warm, as after some minutes of watching. NextId comes at",
    `${perSecond} calls/s by h2load for ${calls / perSecond} seconds: without pages, beside them, and without them again. p99 in`,
    `milliseconds, the median of ${watchRounds} such rounds: ${p99s}. The row has the median of each round's ratio to the mean of`,
    `the two without pages around it. The last against the first, ${formatFigure(noise)} x, is what the measuring itself brings. The pages take ${formatFigure(watchUs / 1_000)} ms of processor time a second.`,
  ].join("\n");
}

/** Processor time of the server for the pages that watch it, in microseconds a second. */
async function measureWatch(server: BenchServer): Promise<number> {
  const perSecond = async (): Promise<number> => {
    const beforeUs = server.cpuUs();
    await sleep(2 * watchersOpenMs);
    return (server.cpuUs() - beforeUs) / ((2 * watchersOpenMs) / 1_000);
  };
  const restUs = await perSecond();
  const end = watchAs(watcherCount, server.port);
  await sleep(watchersOpenMs);
  const watchedUs = await perSecond();
  await end();
  return Math.max(0, watchedUs - restUs);
}
