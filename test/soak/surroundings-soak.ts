import { closeSync } from "node:fs";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { scrape } from "../support/metrics/scrape.ts";
import { GrpcIdClient } from "../support/processes/grpc-id-client.ts";
import type { SnowlaneProcess } from "../support/processes/snowlane-process.ts";
import {
  callNextId,
  callRefused,
  giveBack,
  LogPipe,
  startLoggingTo,
  surroundings,
  takeAway,
} from "../support/processes/surroundings.ts";
import { until } from "../support/processes/until.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";
import { RisingIds } from "./rising-ids.ts";

/** How such a soak goes. */
export interface SurroundingsSoakOptions {
  /** A folder of its own, for the store and the log. */
  readonly folder: string;
  readonly durationMs: number;
  readonly lookEveryMs: number;
  readonly seed: number;
  readonly onLook: (look: SurroundingsLook) => void;
  /** Called at once with what failed. */
  readonly onFailure: (text: string) => void;
  /** Ends it early, in order. */
  readonly signal: AbortSignal;
}

/** Counts of all the time before. */
export interface SurroundingsLook {
  readonly atMs: number;
  readonly calls: number;
  readonly failures: number;
  readonly idCount: number;
  readonly duplicates: number;
  /** How often each was taken away. */
  readonly taken: Readonly<Record<(typeof surroundings)[number], number>>;
  /** Renewals of the window that came about. */
  readonly renewals: number;
  readonly lostLines: number;
}

/** The window outlasts the longest time without descriptors or disk, in which its store cannot be written. */
const args = ["--window", "60s", "--window-max", "60s", "--renewal-period", "1s"];
const takenMs = { min: 200, more: 8_000 };
/** Long enough for a renewal. */
const restMs = { min: 1_500, more: 2_000 };
const callTimeoutMs = 60_000;
const callPauseMs = 5;
const streamIds = 20_000n;
/** Texts of failures that are shown. */
const textsMax = 10;
const quietMs = 60_000;
const json = { "content-type": "application/json" };

/** Callers on connections that stay: a server without descriptors takes no new one. */
class KeptCallers {
  calls = 0;
  failures = 0;
  readonly ids = new RisingIds();
  readonly #onFailure: (text: string) => void;
  readonly #running: readonly Promise<void>[];
  readonly #closers: (() => void)[] = [];
  readonly #called = new Set<number>();
  #active = 0;
  #state: "calling" | "held" | "ending" = "calling";

  constructor({ address, url }: SnowlaneProcess, onFailure: (text: string) => void) {
    this.#onFailure = onFailure;
    const grpc = Array.from({ length: 3 }, () => new GrpcIdClient(address, "own"));
    const agents = Array.from({ length: 2 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    this.#closers.push(...grpc.map((client) => () => client.close()), ...agents.map((agent) => () => agent.destroy()));
    const [first, second, streaming] = grpc as [GrpcIdClient, GrpcIdClient, GrpcIdClient];
    this.#running = [
      ...[first, second].map((client, index) =>
        this.#run(index, "gRPC", async () => [await client.nextId(callTimeoutMs)]),
      ),
      ...agents.map((agent, index) => this.#run(2 + index, "Connect", async () => [await nextIdByJson(url, agent)])),
      this.#run(4, "stream", async () => {
        const ids: bigint[] = [];
        for await (const chunk of streaming.batchNextIds({ count: streamIds }, callTimeoutMs)) ids.push(...chunk);
        if (BigInt(ids.length) !== streamIds) throw new Error(`${ids.length} IDs of ${streamIds}`);
        return ids;
      }),
    ];
  }

  get callerCount(): number {
    return this.#running.length;
  }

  /** Those that were answered at least once. */
  get calledCount(): number {
    return this.#called.size;
  }

  /** Counts a call of somebody else. */
  note(isGood: boolean, text: string): void {
    this.calls += 1;
    if (isGood) return;
    this.failures += 1;
    if (this.failures <= textsMax) this.#onFailure(text);
  }

  /** Lets all stand still, and gives how many IDs came twice since the last time. */
  async endPart(): Promise<number> {
    this.#state = "held";
    const endMs = systemClock.monotonicMs() + quietMs;
    while (this.#active > 0) {
      if (systemClock.monotonicMs() > endMs) throw new Error(`callers were still waiting after ${quietMs} ms`);
      await sleep(callPauseMs);
    }
    const duplicates = this.ids.endPart();
    this.#state = "calling";
    return duplicates;
  }

  async end(): Promise<void> {
    this.#state = "ending";
    await Promise.all(this.#running);
    for (const close of this.#closers) close();
  }

  async #run(index: number, name: string, call: () => Promise<readonly bigint[]>): Promise<void> {
    for (; this.#state !== "ending"; await sleep(callPauseMs)) {
      if (this.#state === "held") continue;
      this.#active += 1;
      try {
        this.ids.add(await call());
        this.note(true, "");
        this.#called.add(index);
      } catch (error) {
        this.note(false, `${name}: ${String(error)}`);
      }
      this.#active -= 1;
    }
  }
}

async function nextIdByJson(url: string, agent: Agent): Promise<bigint> {
  const call = request(`${url}/snowlane.v1.IdService/NextId`, { method: "POST", headers: json, agent });
  call.end("{}");
  const [response] = (await once(call, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${body}`);
  return BigInt((JSON.parse(body) as { readonly id: string }).id);
}

/**
 * Starts the built server on SQLite and calls it on connections that stay, while its descriptors, its disk and the
 * reader of its log are taken away and given back at random. Once all are back, a call on a new connection is answered,
 * too.
 */
export async function soakSurroundings(options: SurroundingsSoakOptions) {
  const { folder, durationMs, lookEveryMs, seed, onLook, onFailure, signal } = options;
  const log = new LogPipe(join(folder, "log"));
  const writer = log.openWriter();
  const server = await startLoggingTo({ storeFile: join(folder, "ids.db"), stderr: writer, args });
  closeSync(writer);
  const random = new SeededRandom(seed);
  const callers = new KeptCallers(server, onFailure);
  const startMs = systemClock.monotonicMs();
  const elapsedMs = (): number => systemClock.monotonicMs() - startMs;
  // Without a connection of its own a caller could not call a server without descriptors.
  await until("every caller has called", () => callers.calledCount === callers.callerCount);
  const taken = { descriptors: 0, disk: 0, log: 0 };
  const looks: SurroundingsLook[] = [];
  let duplicates = 0;
  const look = async (): Promise<void> => {
    duplicates += await callers.endPart();
    const samples = await scrape(server.url);
    const found: SurroundingsLook = {
      atMs: elapsedMs(),
      calls: callers.calls,
      failures: callers.failures,
      idCount: callers.ids.idCount,
      duplicates,
      taken: { ...taken },
      renewals: samples.get('snowlane_worker_events_total{event="renewed"}') ?? 0,
      lostLines: samples.get("snowlane_log_lines_lost_total") ?? 0,
    };
    looks.push(found);
    onLook(found);
  };
  for (let nextLookMs = lookEveryMs; elapsedMs() < durationMs && !signal.aborted; ) {
    const some = surroundings.filter(() => random.oneIn(2));
    for (const what of some) {
      takeAway(what, server, log);
      taken[what] += 1;
    }
    // It has a line in the log. Without descriptors it is answered later.
    void callRefused(server.url).catch(() => undefined);
    await sleep(takenMs.min + random.below(takenMs.more));
    if (server.child.exitCode !== null) break;
    for (const what of some) giveBack(what, server, log);
    const status = await callNextId(server.url).catch(String);
    callers.note(status === 200, `a new connection after ${some.join(", ")}: ${status}`);
    await sleep(restMs.min + random.below(restMs.more));
    log.read();
    if (elapsedMs() < nextLookMs) continue;
    nextLookMs += lookEveryMs;
    await look();
  }
  if (server.child.exitCode === null) await look();
  await callers.end();
  const exit = server.child.exitCode ?? (await server.stop("SIGTERM"));
  log.close();
  const problems = [
    ...(callers.failures > 0 ? [`${callers.failures} calls failed`] : []),
    ...(duplicates > 0 ? [`${duplicates} IDs came twice`] : []),
    ...(exit === 0 ? [] : [`the server ended with ${exit}`]),
  ];
  return { looks, problems };
}
