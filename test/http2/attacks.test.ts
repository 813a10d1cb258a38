/**
 * Attacks on `snowlane serve` with the engine: each ends as it should, another caller is served all the while, and the
 * memory in use is afterwards within a tenth of what it was after ordinary calls. The same again where callers are
 * known by their tokens. test/bench/attacks.ts measures what they cost the other caller.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Attack, quickAttacks, slowAttacks, tlsAttacks } from "../support/http2/attacks.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { progress } from "../support/fetch/user-cache.ts";
import { callOnce } from "../support/http2/call-once.ts";
import { attackerName } from "../support/http2/http2-floods.ts";
import { liveMemoryFlags, liveMb } from "../support/processes/live-memory.ts";
import { Neighbour } from "../support/http2/neighbour.ts";
import { ordinaryLoad } from "../support/http2/ordinary-load.ts";
import { scrape } from "../support/metrics/scrape.ts";
import { bearer, writePrincipals } from "../support/processes/principals-file.ts";
import { bundledProgram, bundleServer } from "../support/processes/server-bundle.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

let certificates: Certificates;
let plain: SnowlaneProcess;
let secure: SnowlaneProcess;
let neighbour: Neighbour;
/** The memory that each server had in use before the attacks. */
let liveBefore: readonly number[] = [];
let p99Ms = 0;
/** What it ever has in use while it is attacked, in MB, once {@link isOver}. */
let mostLive: Promise<number>;
let isOver = false;
let scraping: NodeJS.Timeout | undefined;

/** Times that a test can wait for; and a wait for IDs that a machine which stands still for a second does not end. */
const limits = [
  ["--stall-timeout", "4s"],
  ["--wait-max", "60s"],
  ["--http2-limits", "handshakeTimeoutMs=4000,frameTimeoutMs=4000,bodyTimeoutMs=4000"],
].flat();

const program = [process.execPath, ...liveMemoryFlags, bundledProgram];

const portOf = ({ address }: SnowlaneProcess): number => Number(address.split(":")[1]);

/** Asks a server ten times a second what it has in use, until the attacks are over; resolves with the most. */
async function mostLiveMb(server: SnowlaneProcess, isOver: () => boolean): Promise<number> {
  let most = 0;
  while (!isOver()) {
    most = Math.max(most, await liveMb(server));
    await sleep(100);
  }
  return most;
}

const ids = ["ids"];
/** The attackers have a token, and quotas that they may use up. */
const principals = [
  { name: attackerName, permissions: ids, idsPerSecond: 100_000, callsPerSecond: 10_000, streamsMax: 1_000 },
  { name: "neighbour", permissions: ids, idsPerSecond: 1_000_000, callsPerSecond: 1_000_000 },
  { name: "scraper", permissions: ["observe"] },
];

function guardFlags(): readonly string[] {
  const path = join(certificates.folder, "principals.json");
  writePrincipals(path, principals);
  return ["--principals", path, "--log-calls", "refused"];
}

describe.each(["an open server", "a server with principals, quotas and a scraper"])("%s", (kind) => {
  beforeAll(async () => {
    await bundleServer();
    certificates = await makeCertificates();
    const { certFile, keyFile } = certificates.server;
    const isOpen = kind === "an open server";
    const store = (name: string): string => `sqlite:${certificates.folder}/${name}.db`;
    const engine = ["--http2", "engine", ...limits, ...(isOpen ? [] : guardFlags())];
    plain = await startSnowlane({ program, args: [...engine, "--store", store("plain")] });
    const overTls = ["--store", store("secure"), "--tls-cert", certFile, "--tls-key", keyFile];
    secure = await startSnowlane({ program, args: [...engine, ...overTls] });
    const { url } = plain;
    if (!isOpen) {
      scraping = setInterval(() => void scrape(url, { headers: bearer("scraper") }).catch(() => undefined), 100);
    }
    await ordinaryLoad(url, 4, 5, bearer(attackerName));
    neighbour = new Neighbour(url, {}, bearer("neighbour"));
    await neighbour.served(500);
    p99Ms = 0;
    liveBefore = await Promise.all([plain, secure].map(liveMb));
    isOver = false;
    mostLive = mostLiveMb(plain, () => isOver);
    neighbour.report();
  });

  afterEach(async () => {
    await neighbour.served(20);
    const { calls, failures, p99Ms: thisP99Ms } = neighbour.report();
    p99Ms = Math.max(p99Ms, thisP99Ms);
    expect(failures).toEqual([]);
    expect(calls).toBeGreaterThanOrEqual(20);
  });

  afterAll(async () => {
    clearInterval(scraping);
    isOver = true;
    await Promise.all([neighbour.stop(), mostLive]);
    await Promise.all([plain.stop("SIGTERM"), secure.stop("SIGTERM")]);
    certificates.remove();
  });

  test.each(quickAttacks)("$name", async ({ run, end }) => {
    expect(await run(portOf(plain))).toMatch(end);
  });

  test("callers that break rules, again and again, lock out nobody of their own address (they did)", async () => {
    const port = portOf(plain);
    const { run } = quickAttacks.find(({ name }) => name === "window overflow")!;
    const begunMs = performance.now();
    let [ended, served] = [0, 0];
    // A busy machine gets three times as long to serve as many.
    const isDone = (): boolean => {
      const passedMs = performance.now() - begunMs;
      return passedMs > 30_000 || (passedMs > 10_000 && served > 20);
    };
    const again = async (): Promise<void> => {
      while (!isDone()) {
        await run(port);
        ended++;
      }
    };
    const attackers = Array.from({ length: 20 }, again);
    while (!isDone()) {
      await callOnce(port);
      served++;
    }
    await Promise.all(attackers);
    progress(`${ended} attackers were ended; ${served} callers from the same address were served.`);
    // With a penalty of two seconds for the address it would be at most 18.
    expect(served).toBeGreaterThan(20);
  });

  /** All at once, for they wait more than they do. */
  async function outcomes(attacks: readonly Attack[], port: number): Promise<Readonly<Record<string, string>>> {
    const results = await Promise.all(attacks.map(async ({ name, run }) => [name, await run(port)] as const));
    return Object.fromEntries(results);
  }

  function expected(attacks: readonly Attack[]): Readonly<Record<string, unknown>> {
    return Object.fromEntries(attacks.map(({ name, end }) => [name, expect.stringMatching(end)]));
  }

  test("callers that take their time, or say too little", async () => {
    const [onPlain, onSecure] = await Promise.all([
      outcomes(slowAttacks, portOf(plain)),
      outcomes(tlsAttacks, portOf(secure)),
    ]);
    expect(onPlain).toEqual(expected(slowAttacks));
    expect(onSecure).toEqual(expected(tlsAttacks));
  });

  test("memory in use never doubles, is after all of it what it was before, and no fault of its own is in its log", async () => {
    isOver = true;
    const most = (await mostLive) / liveBefore[0]!;
    progress(
      `At most ${most.toFixed(2)} times of that was in use; the neighbour's worst p99 was ${p99Ms.toFixed(1)} ms.`,
    );
    expect(most).toBeLessThan(2);
    let ratios: readonly number[] = [];
    // The server lets a closed connection linger for a second.
    const largest = async (): Promise<number> => {
      ratios = (await Promise.all([plain, secure].map(liveMb))).map((mb, index) => mb / liveBefore[index]!);
      return Math.max(...ratios);
    };
    await expect.poll(largest, { interval: 500 }).toBeLessThan(1.1);
    progress(`In use is ${ratios.map((ratio) => ratio.toFixed(3)).join(" and ")} of what was before.`);
    for (const { log } of [plain, secure]) {
      expect(log.filter(({ level }) => level === "error")).toEqual([]);
    }
  });
});
