/** Measures what a caller waits that connects for each call, beside clients of its own address that break rules. */
import { setTimeout as sleep } from "node:timers/promises";
import { callOnce } from "../support/http2/call-once.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startAttackers } from "./attackers.ts";
import { snowlane } from "./bench-server.ts";
import type { Benchmark } from "./benchmark.ts";
import { median } from "./interleave.ts";
import { percentile } from "./load.ts";

const attackName = "window overflow";
const crowds = [0, 20, 60, 200] as const;
const rounds = 3;
const seconds = 10;
/** Of the attackers, before the first newcomer. */
const headStartMs = 1_000;
const p99MaxMs = 250;

/** How long each newcomer of a round waited, in ms, rising, and how often an attacker was ended meanwhile. */
interface Round {
  readonly waits: readonly number[];
  readonly ended: number;
}

async function measure(port: number, attackers: number): Promise<Round> {
  const { attack, stop } = await startAttackers();
  const endsMs = performance.now() + headStartMs + 1_000 * seconds;
  const over = attack({ name: attackName, port, seconds: seconds + headStartMs / 1_000, attackers });
  await sleep(headStartMs);
  const waits: number[] = [];
  while (performance.now() < endsMs) {
    const startMs = performance.now();
    await callOnce(port);
    waits.push(performance.now() - startMs);
  }
  const ended = await over;
  await stop();
  return { waits: waits.toSorted((a, b) => a - b), ended };
}

/** The targets of those who share an address with attackers. */
export const newcomersBenchmark: Benchmark = {
  name: "newcomers",
  title: "A newcomer from the address of attackers",
  about: [
    "Attackers connect, break a rule of HTTP/2, are ended with GOAWAY, and begin again at once, from the address of a",
    "caller that connects for each of its calls, one after another. Nobody is charged for them",
    `([0108](../adr/0108-no-charge-for-violations.md)). Each figure is the median of ${rounds} rounds of ${seconds} s. The server is as it`,
    "is shipped; the attackers' process has the lowest priority.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const server = await snowlane("Snowlane");
    try {
      const rows: string[][] = [];
      for (const attackers of crowds) {
        const found: Round[] = [];
        for (let round = 0; round < rounds; round++) found.push(await measure(server.port, attackers));
        const at = (share: number): number => median(found.map(({ waits }) => percentile(waits, share)));
        const served = median(found.map(({ waits }) => waits.length));
        const ended = median(found.map((one) => one.ended));
        const p99Ms = at(0.99);
        const perSecond = [ended / (seconds + headStartMs / 1_000), served / seconds].map((rate) => rate.toFixed(0));
        const isMet = p99Ms <= p99MaxMs ? "yes" : "no";
        rows.push([`${attackers}`, ...perSecond, at(0.5).toFixed(1), p99Ms.toFixed(1), `${p99MaxMs}`, isMet]);
        log(`${attackers} attackers`);
      }
      const columns = [
        "attackers",
        "ended a second",
        "newcomers served a second",
        "p50, ms",
        "p99, ms",
        "at most",
        "met",
      ];
      return [{ title: "From connecting to the ID", columns, rows }];
    } finally {
      await server.stop();
    }
  },
};
