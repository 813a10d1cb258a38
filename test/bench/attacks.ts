/** What attacks cost a caller that behaves, and what they leave in the server's memory. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Attack, quickAttacks, slowAttacks, tlsAttacks } from "../support/attacks.ts";
import { makeCertificates } from "../support/certificates.ts";
import { liveMemoryFlags, liveMib } from "../support/live-memory.ts";
import { Neighbour } from "../support/neighbour.ts";
import { ordinaryLoad } from "../support/ordinary-load.ts";
import { residentMib } from "../support/resident-memory.ts";
import { runCommand } from "../support/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/snowlane-process.ts";
import type { AttackOrder } from "./attacker-process.ts";
import type { Benchmark } from "./benchmark.ts";
import { median } from "./interleave.ts";

const attackerProgram = new URL("attacker-process.ts", import.meta.url);
/** Alone and attacked in turn, so that what else the machine does meets both. */
const rounds = 3;
const secondsAlone = 0.6;
const secondsAttacked = 0.8;
const attackers = 4;
const warmUp = { callers: 32, seconds: 10 };
const restMs = 10_000;
/** Time limits of the server, low enough for attacks on its patience to end by them. */
const limits = [
  "--stall-timeout",
  "2s",
  "--http2-limits",
  "handshakeTimeoutMs=2000,frameTimeoutMs=2000,bodyTimeoutMs=2000",
];

/** A server under attack, and the caller beside. */
interface Victim {
  readonly name: string;
  readonly server: SnowlaneProcess;
  readonly neighbour: Neighbour;
  readonly attacks: readonly Attack[];
}

const portOf = ({ address }: SnowlaneProcess): number => Number(address.split(":")[1]);
const mib = (value: number): string => value.toFixed(1);

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
async function measureRound({ server, neighbour }: Victim, name: string) {
  neighbour.report();
  await sleep(1_000 * secondsAlone);
  const alone = neighbour.report();
  const attacker = fork(attackerProgram);
  await once(attacker, "message");
  neighbour.report();
  attacker.send({ name, port: portOf(server), seconds: secondsAttacked, attackers } satisfies AttackOrder);
  await once(attacker, "message");
  const beside = neighbour.report();
  attacker.kill();
  await once(attacker, "exit");
  return { aloneMs: alone.p99Ms, besideMs: beside.p99Ms };
}

/** One row: the medians of all rounds, and the memory before and after. */
async function measureAttack(victim: Victim, name: string, end: string): Promise<readonly string[]> {
  const beforeMib = await liveMib(victim.server);
  const failedBefore = victim.neighbour.report().failures.length;
  const found = [];
  for (let round = 0; round < rounds; round++) found.push(await measureRound(victim, name));
  const aloneMs = median(found.map((round) => round.aloneMs));
  const besideMs = median(found.map((round) => round.besideMs));
  const failed = victim.neighbour.report().failures.length - failedBefore;
  const ms = [aloneMs.toFixed(2), besideMs.toFixed(2), (besideMs / aloneMs).toFixed(1)];
  const memory = [mib(beforeMib), mib(await liveMib(victim.server)), residentMib(victim.server.child.pid).toFixed(0)];
  return [name, end, ...ms, String(failed), ...memory];
}

async function memoryRow(what: string, { name, server }: Victim): Promise<readonly string[]> {
  const resident = residentMib(server.child.pid).toFixed(0);
  return [`${what}, ${name}`, mib(await liveMib(server)), resident];
}

interface Measured {
  readonly attackRows: readonly (readonly string[])[];
  readonly memoryRows: readonly (readonly string[])[];
}

async function measure(victim: Victim, log: (line: string) => void): Promise<Measured> {
  const { server, neighbour, attacks } = victim;
  const memoryRows = [await memoryRow("just started", victim)];
  await neighbour.served(10_000);
  // It knows no TLS, and no attack on TLS gets as far as a call.
  if (victim.name === "cleartext") await ordinaryLoad(server.url, warmUp.callers, warmUp.seconds);
  memoryRows.push(await memoryRow("after ordinary calls", victim));
  const ends = await Promise.all(attacks.map(({ run }) => run(portOf(server))));
  const attackRows: (readonly string[])[] = [];
  for (const [index, { name }] of attacks.entries()) {
    const row = await measureAttack(victim, name, shortEnd(ends[index] ?? ""));
    log(row.join("  "));
    attackRows.push(row);
  }
  await sleep(restMs);
  memoryRows.push(await memoryRow("after all attacks", victim));
  return { attackRows, memoryRows };
}

interface Setting {
  readonly name: "cleartext" | "TLS";
  readonly attacks: readonly Attack[];
  readonly args: readonly string[];
  readonly ca?: Buffer;
}

async function measureServer({ name, attacks, args, ca }: Setting, log: (line: string) => void): Promise<Measured> {
  const program = [process.execPath, ...liveMemoryFlags, "dist/main.js"];
  const server = await startSnowlane({ program, args: ["--http2", "engine", ...limits, ...args] });
  const neighbour = ca === undefined ? new Neighbour(server.url) : new Neighbour(`https://${server.address}`, { ca });
  try {
    return await measure({ name, server, neighbour, attacks }, log);
  } finally {
    await neighbour.stop();
    await server.stop("SIGTERM");
  }
}

/** What RELIABILITY asks: the right code, the others' p99 within twice, the memory within a tenth. */
export const attacksBenchmark: Benchmark = {
  name: "attacks",
  title: "Attacks on the engine, and a caller beside them",
  about: [
    `Each attack goes on for ${secondsAttacked} s, by ${attackers} attackers at once that begin again when they were ended, from a process of the`,
    `lowest priority: attackers bring processors of their own. The caller asks for one ID after another on one connection; its`,
    `p99 alone is that of the ${secondsAlone} s before, and each is the median of ${rounds} rounds. In use is what V8's heap and the buffers`,
    "outside of it come to after all garbage was",
    "collected; resident is what the process holds of the system, with what V8 and the allocator keep for the next time. The",
    "server's time limits are set to 2 s, so that attacks on its patience can be seen to end. Which memory is the one before:",
    `that after ${warmUp.seconds} s of ordinary calls of every kind, for a server that has just started has compiled nothing.`,
  ].join("\n"),
  packages: [],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const certificates = await makeCertificates();
    try {
      const { certFile, keyFile } = certificates.server;
      const store = (name: string): readonly string[] => ["--store", `sqlite:${certificates.folder}/${name}.db`];
      const plain = [...quickAttacks, ...slowAttacks];
      const cleartext = await measureServer({ name: "cleartext", attacks: plain, args: store("plain") }, log);
      const tlsArgs = [...store("tls"), "--tls-cert", certFile, "--tls-key", keyFile];
      const ca = readFileSync(certificates.caFile);
      const tls = await measureServer({ name: "TLS", attacks: tlsAttacks, args: tlsArgs, ca }, log);
      return [
        {
          title: "How each attack ended, the caller's p99 in ms, and MiB of memory",
          columns: [
            "attack",
            "ended by",
            "p99 alone",
            "p99 beside",
            "ratio",
            "calls failed",
            "in use before",
            "in use after",
            "resident",
          ],
          rows: [...cleartext.attackRows, ...tls.attackRows],
        },
        {
          title: "MiB of memory, before and after",
          columns: ["when", "in use", "resident"],
          rows: [...cleartext.memoryRows, ...tls.memoryRows],
        },
      ];
    } finally {
      certificates.remove();
    }
  },
};
