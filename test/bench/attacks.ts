/** Measures the cost of attacks for a caller that behaves, and their effect on the server's memory. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Attack, quickAttacks, slowAttacks, tlsAttacks } from "../support/http2/attacks.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { liveMemoryFlags, liveMb } from "../support/processes/live-memory.ts";
import { Neighbour } from "../support/http2/neighbour.ts";
import { ordinaryLoad } from "../support/http2/ordinary-load.ts";
import { residentMb } from "../support/processes/resident-memory.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { startAttackers } from "./attackers.ts";
import type { Benchmark } from "./benchmark.ts";
import { median } from "./interleave.ts";
import { ordinaryCallers } from "./ordinary-callers.ts";

/** Alone and attacked in turn, so that what else the machine does meets both. */
const rounds = 5;
const secondsAlone = 0.6;
const secondsAttacked = 0.8;
const attackers = 4;
/** Of the caller, before it is looked at. */
const callsBefore = 500;
const warmUp = { callers: 32, seconds: 10 };
const restMs = 10_000;
/** Time limits of the server, low enough for attacks on its patience to end by them. */
const limits = [
  "--stall-timeout",
  "2s",
  "--http2-limits",
  "handshakeTimeoutMs=2000,frameTimeoutMs=2000,bodyTimeoutMs=2000",
];

/** A server under attack. */
interface Victim {
  readonly server: SnowlaneProcess;
  /** The authority of its certificate; undefined on cleartext. */
  readonly ca: Buffer | undefined;
}

/** The latencies of a caller beside an attack, in one round or as the median of all. */
interface Latencies {
  readonly aloneMs: number;
  readonly besideMs: number;
  readonly failed: number;
}

const portOf = ({ address }: SnowlaneProcess): number => Number(address.split(":")[1]);
const mb = (value: number): string => value.toFixed(1);

/** How an attack ended, in the words of the RFCs. */
function shortEnd(outcome: string): string {
  const [, frame = "", code = ""] = /^(goAway|rstStream) \d+ (\w+)/.exec(outcome) ?? [];
  const status = /grpc-status=(\d+)/.exec(outcome)?.[1];
  if (status !== undefined) return `grpc-status ${status}`;
  if (/^\d+$/.test(outcome)) return `HTTP ${outcome}`;
  if (frame === "") return outcome;
  const name = code.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  return `${frame === "goAway" ? "GOAWAY" : "RST_STREAM"} ${name}`;
}

/** One round: the caller's p99 alone, then beside attackers. */
async function measureRound({ server, ca }: Victim, name: string): Promise<Latencies> {
  const neighbour = ca === undefined ? new Neighbour(server.url) : new Neighbour(`https://${server.address}`, { ca });
  await neighbour.served(callsBefore);
  neighbour.report();
  await sleep(1_000 * secondsAlone);
  const alone = neighbour.report();
  const { attack, stop } = await startAttackers();
  neighbour.report();
  await attack({ name, port: portOf(server), seconds: secondsAttacked, attackers });
  const beside = neighbour.report();
  await stop();
  await neighbour.stop();
  return { aloneMs: alone.p99Ms, besideMs: beside.p99Ms, failed: neighbour.report().failures.length };
}

function middle(found: readonly Latencies[]): Latencies {
  return {
    aloneMs: median(found.map(({ aloneMs }) => aloneMs)),
    besideMs: median(found.map(({ besideMs }) => besideMs)),
    failed: found.reduce((sum, { failed }) => sum + failed, 0),
  };
}

const latencyCells = ({ aloneMs, besideMs }: Latencies): readonly string[] => [
  aloneMs.toFixed(2),
  besideMs.toFixed(2),
  (besideMs / aloneMs).toFixed(1),
];

/** One row: the medians of all rounds, and the memory before and after. */
async function measureAttack(victim: Victim, peer: Victim | undefined, name: string): Promise<readonly string[]> {
  const beforeMb = await liveMb(victim.server);
  const found: Latencies[] = [];
  const peerFound: Latencies[] = [];
  for (let round = 0; round < rounds; round++) {
    found.push(await measureRound(victim, name));
    if (peer !== undefined) peerFound.push(await measureRound(peer, name));
  }
  const own = middle(found);
  const peerCells = peer === undefined ? ["", ""] : latencyCells(middle(peerFound)).slice(1);
  const memory = [mb(beforeMb), mb(await liveMb(victim.server)), residentMb(victim.server.child.pid).toFixed(0)];
  return [...latencyCells(own), ...peerCells, String(own.failed), ...memory];
}

async function memoryRow(what: string, { server }: Victim): Promise<readonly string[]> {
  const resident = residentMb(server.child.pid).toFixed(0);
  return [what, mb(await liveMb(server)), resident];
}

interface Measured {
  readonly attackRows: readonly (readonly string[])[];
  readonly memoryRows: readonly (readonly string[])[];
}

/** The servers to attack, the attacker, and the callers beside it. */
interface Campaign {
  readonly name: "cleartext" | "TLS";
  readonly victim: Victim;
  /** Attacked in the same way, by the attacks of {@link comparedAttacks}. */
  readonly peer: Victim | undefined;
  readonly attacks: readonly Attack[];
}

/** Slow attacks cost nobody time, here or there. */
const comparedAttacks: readonly Attack[] = [...ordinaryCallers, ...quickAttacks];

async function warm({ name, victim, peer }: Campaign): Promise<void> {
  // It knows no TLS, and no attack on TLS gets as far as a call.
  if (name === "TLS") return;
  for (const { server } of [victim, ...(peer === undefined ? [] : [peer])]) {
    await ordinaryLoad(server.url, warmUp.callers, warmUp.seconds);
  }
}

async function measure(campaign: Campaign, log: (line: string) => void): Promise<Measured> {
  const { name, victim, peer, attacks } = campaign;
  const memoryRows = [await memoryRow(`just started, ${name}`, victim)];
  await warm(campaign);
  memoryRows.push(await memoryRow(`after ordinary calls, ${name}`, victim));
  const ends = await Promise.all(attacks.map(({ run }) => run(portOf(victim.server))));
  const attackRows: (readonly string[])[] = [];
  for (const [index, attack] of attacks.entries()) {
    const comparedPeer = comparedAttacks.includes(attack) ? peer : undefined;
    const cells = await measureAttack(victim, comparedPeer, attack.name);
    const row = [attack.name, shortEnd(ends[index] ?? ""), ...cells];
    log(row.join("  "));
    attackRows.push(row);
  }
  await sleep(restMs);
  memoryRows.push(await memoryRow(`after all attacks, ${name}`, victim));
  return { attackRows, memoryRows };
}

/** Starts a server, to be stopped by `stack`. */
async function startServer(
  stack: AsyncDisposableStack,
  http2: "engine" | "node",
  args: readonly string[],
): Promise<SnowlaneProcess> {
  const program = [process.execPath, ...liveMemoryFlags, "dist/main.js"];
  const server = await startSnowlane({ program, args: ["--http2", http2, ...limits, ...args] });
  stack.defer(async () => void (await server.stop("SIGTERM")));
  return server;
}

async function measureCleartext(folder: string, log: (line: string) => void): Promise<Measured> {
  await using stack = new AsyncDisposableStack();
  const victim = await startServer(stack, "engine", ["--store", `sqlite:${folder}/engine.db`]);
  const peer = await startServer(stack, "node", ["--store", `sqlite:${folder}/node.db`]);
  const attacks = [...comparedAttacks, ...slowAttacks];
  const plain = { ca: undefined };
  return await measure(
    { name: "cleartext", victim: { server: victim, ...plain }, peer: { server: peer, ...plain }, attacks },
    log,
  );
}

async function measureTls(
  { server: files, caFile, folder }: Certificates,
  log: (line: string) => void,
): Promise<Measured> {
  await using stack = new AsyncDisposableStack();
  const args = ["--store", `sqlite:${folder}/tls.db`, "--tls-cert", files.certFile, "--tls-key", files.keyFile];
  const victim = { server: await startServer(stack, "engine", args), ca: readFileSync(caFile) };
  return await measure({ name: "TLS", victim, peer: undefined, attacks: tlsAttacks }, log);
}

/** The targets of reliability: the right code, the others' p99 within twice, the memory within a tenth. */
export const attacksBenchmark: Benchmark = {
  name: "attacks",
  title: "Attacks on the engine, and a caller beside them",
  about: [
    `Each attack goes on for ${secondsAttacked} s. It is made by ${attackers} attackers at once, which begin again`,
    "when the server has ended them, from a process of the lowest priority, because real attackers bring processors",
    "of their own. The caller asks for one ID after another on one connection. Its p99 alone, in ms, is that of the",
    `${secondsAlone} s before, and each figure is the median of ${rounds} rounds. The first rows are not attacks: they`,
    "show the effect of others that do nothing wrong, which on this machine is the least that is possible. `--http2",
    "node` is attacked in the same way. Memory in use is V8's heap and the buffers outside of it after all garbage",
    "was collected; resident memory is everything that the process holds of the system, with the pages that V8 and",
    "the allocator keep for later. The server's time limits are set to 2 s, so that slow attacks can be seen to end.",
    `The memory before is that after ${warmUp.seconds} s of ordinary calls of every kind, because a server that has`,
    "just started has compiled nothing.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const certificates = await makeCertificates();
    try {
      const cleartext = await measureCleartext(certificates.folder, log);
      const tls = await measureTls(certificates, log);
      return [
        {
          title: "How each attack ended, the caller's p99 in ms, and MB of memory",
          columns: [
            "attack",
            "ended by",
            "p99 alone",
            "p99 beside",
            "ratio",
            "beside, node:http2",
            "ratio",
            "calls failed",
            "in use before",
            "in use after",
            "resident",
          ],
          rows: [...cleartext.attackRows, ...tls.attackRows],
        },
        {
          title: "MB of memory, before and after",
          columns: ["when", "in use", "resident"],
          rows: [...cleartext.memoryRows, ...tls.memoryRows],
        },
      ];
    } finally {
      certificates.remove();
    }
  },
};
