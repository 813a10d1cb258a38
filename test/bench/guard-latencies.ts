/** Measures what refused callers and a greedy one cost in time: themselves, and those beside them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scrape } from "../support/metrics/scrape.ts";
import { bearer, digestOf, tokenOf } from "../support/processes/principals-file.ts";
import { type BenchServer, snowlane } from "./bench-server.ts";
import type { Finding } from "./benchmark.ts";
import { interleave, median } from "./interleave.ts";
import { type LoadResult, percentile, runH2load } from "./load.ts";

const token = tokenOf("others");
/** Values of `authorization` that are refused. They all should take the time that none takes. */
const refused: Readonly<Record<string, string | undefined>> = {
  "no token": undefined,
  "a wrong token": "Bearer snw_nobody-has-it",
  "a token that is wrong in its first letter": `Bearer x${token.slice(1)}`,
  "a token that is wrong in its last letter": `Bearer ${token.slice(0, -1)}x`,
  "a good token with more behind it": `Bearer ${token}x`,
  "a good token in another scheme": `Basic ${token}`,
  "no token in it": "Bearer",
  "a token of 512 letters": `Bearer ${"x".repeat(512)}`,
  "a token of 4,000 letters": `Bearer ${"x".repeat(4_000)}`,
};
const calm = { connections: 4, streams: 8, calls: 10_000, perSecond: 5_000 };

const [quotaPerSecond, othersPerSecond] = [1_000, 2_000];
/** The greedy caller asks for ten times its quota; the others stay below theirs. */
const greedyLoad = { connections: 4, streams: 32, calls: 40_000, perSecond: 10 * quotaPerSecond };
const othersLoad = { connections: 4, streams: 8, calls: 6_000, perSecond: othersPerSecond };
const principals = [
  { name: "greedy", tokens: [digestOf(tokenOf("greedy"))], permissions: ["ids"], idsPerSecond: quotaPerSecond },
  { name: "others", tokens: [digestOf(token)], permissions: ["ids"], idsPerSecond: 2 * othersPerSecond },
  { name: "scraper", tokens: [digestOf(tokenOf("scraper"))], permissions: ["observe"] },
];

const ms = (value: number): string => value.toFixed(3);
/** The median over the rounds of a percentile of each. */
const over = (results: readonly LoadResult[], share: number): number =>
  median(results.map(({ latenciesMs }) => percentile(latenciesMs, share)));

async function compareRefusals(server: BenchServer, folder: string, rounds: number, log: Log): Promise<Finding> {
  log("refused tokens");
  const contestants = Object.entries(refused).map(([name, authorization]) => ({
    name,
    run: () => runH2load(server, { ...calm, headers: authorization === undefined ? {} : { authorization } }, folder),
  }));
  const results = await interleave(contestants, rounds, log);
  return {
    title: `Refused calls of NextId, ${calm.perSecond.toLocaleString("en-US")} a second: milliseconds to the answer`,
    columns: ["credentials", "median", "p99", "µs of processor"],
    rows: [...results].map(([name, found]) => [
      name,
      ms(over(found, 0.5)),
      ms(over(found, 0.99)),
      median(found.map(({ cpuUs }) => cpuUs)).toFixed(1),
    ]),
  };
}

async function idsOf(server: BenchServer, name: string): Promise<number> {
  const lines = await scrape(`http://127.0.0.1:${server.port}`, { headers: bearer("scraper") });
  return lines.get(`snowlane_principal_ids_total{principal="${name}"}`) ?? 0;
}

interface Beside {
  readonly load: LoadResult;
  /** Of the calls of the others: how many got an ID. */
  readonly share: number;
}

async function compareOthers(server: BenchServer, folder: string, rounds: number, log: Log): Promise<Finding> {
  log("a greedy principal");
  const folderOf = (name: string): string => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  const run = async (isAlone: boolean): Promise<Beside> => {
    const before = await idsOf(server, "others");
    const greedy = isAlone
      ? undefined
      : runH2load(server, { ...greedyLoad, headers: bearer("greedy") }, folderOf("greedy"));
    const load = await runH2load(server, { ...othersLoad, headers: bearer("others") }, folderOf("others"));
    await greedy;
    return { load, share: ((await idsOf(server, "others")) - before) / othersLoad.calls };
  };
  const contestants = [
    { name: "alone", run: () => run(true) },
    { name: "beside one at ten times its quota", run: () => run(false) },
  ];
  const results = await interleave(contestants, rounds, log);
  return {
    title: `NextId of a principal at ${othersPerSecond.toLocaleString("en-US")} calls a second, in milliseconds`,
    columns: ["", "median", "p99", "% of its calls served"],
    rows: [...results].map(([name, found]) => {
      const loads = found.map(({ load }) => load);
      const served = Math.min(...found.map(({ share }) => share));
      return [name, ms(over(loads, 0.5)), ms(over(loads, 0.99)), (100 * served).toFixed(1)];
    }),
  };
}

type Log = (line: string) => void;

/** Both comparisons, on one server. */
export async function measureGuardLatencies(folder: string, rounds: number, log: Log): Promise<readonly Finding[]> {
  const path = join(folder, "three-principals.json");
  writeFileSync(path, JSON.stringify({ principals }));
  const server = await snowlane("tokens and quotas", ["--principals", path]);
  try {
    return [await compareRefusals(server, folder, rounds, log), await compareOthers(server, folder, rounds, log)];
  } finally {
    await server.stop();
  }
}
