/** The commands of the interop program that keep a client: docs/internals/client-contract.md has them. */
import { createWriteStream, readFileSync } from "node:fs";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { SnowlaneError } from "../src/errors.ts";
import type { IdClient } from "../src/id-client.ts";
import { createNodeClient } from "../src/node.ts";
import { nodeClock } from "../src/node-clock.ts";
import type { PrefetchBuffer } from "../src/prefetch-buffer.ts";

export type Keys = Readonly<Record<string, string>>;

/** A client that is open, with its buffer if it has one. */
interface Session {
  readonly client: IdClient;
  readonly buffer: PrefetchBuffer | undefined;
  /** Streams whose reading stops after the first chunk. */
  readonly paused: AsyncGenerator[];
}

/** How long after its time a `take` ends whose calls are late. */
const graceMs = 5_000;

const sessions = new Map<string, Session>();

/** How far the wall clock of all clients has been stepped. */
let steppedMs = 0;
const clock = { ...nodeClock, wallMs: () => nodeClock.wallMs() + steppedMs };

/** Steps the wall clock of all clients. */
export function step(keys: Keys): unknown {
  steppedMs += Number(keyOf(keys, "ms"));
  return {};
}

/** Gives the value of a key. @throws Error where it is missing. */
export function keyOf(keys: Keys, name: string): string {
  const value = keys[name];
  if (value === undefined) throw new Error(`The key ${name} is missing.`);
  return value;
}

/** An option of the client by a key in milliseconds, if it is given. */
const timeOf = (keys: Keys, key: string, option: string) =>
  keys[key] === undefined ? {} : { [option]: Number(keys[key]) };

export function open(keys: Keys): unknown {
  const client = createNodeClient({
    endpoints: keyOf(keys, "endpoints").split(","),
    clock,
    ...(keys["ca"] === undefined ? {} : { tls: { ca: readFileSync(keys["ca"], "utf8") } }),
    ...timeOf(keys, "timeout_ms", "timeoutMs"),
    ...timeOf(keys, "attempt_timeout_ms", "attemptTimeoutMs"),
    ...timeOf(keys, "retry_max", "retryMax"),
    ...(keys["token"] === undefined ? {} : { token: keys["token"] }),
  });
  const ages = { ...timeOf(keys, "max_age_ms", "maxAgeMs"), ...timeOf(keys, "outage_ms", "outageMs") };
  const buffer = keys["buffer"] === "1" ? client.prefetch(ages) : undefined;
  sessions.set(keyOf(keys, "client"), { client, buffer, paused: [] });
  return {};
}

function sessionOf(keys: Keys): Session {
  const name = keyOf(keys, "client");
  const session = sessions.get(name);
  if (session === undefined) throw new Error(`No client ${name} is open.`);
  return session;
}

/** How an error is printed. */
export function shownError(error: unknown) {
  if (!(error instanceof SnowlaneError)) throw error;
  const { reason, code, metadata, retryAfterMs = null } = error;
  return { reason, code, metadata, retryAfterMs };
}

/** Calls one after the other; each result is an ID or an error. */
export async function call(keys: Keys): Promise<unknown> {
  const { client, buffer } = sessionOf(keys);
  const results: unknown[] = [];
  for (let left = Number(keys["count"] ?? 1); left > 0; left--) {
    const startedMs = performance.now();
    try {
      const id = await (buffer ?? client).nextId();
      results.push({ id: String(id), durationMs: performance.now() - startedMs });
    } catch (error) {
      const text = String(error);
      results.push({ ...shownError(error), text, durationMs: performance.now() - startedMs });
    }
  }
  return { results };
}

/** Takes IDs at an even rate, each with the time at which it came; what fails is counted and not made again. */
export async function take(keys: Keys): Promise<unknown> {
  const { client, buffer } = sessionOf(keys);
  const out = createWriteStream(keyOf(keys, "out"));
  const perSecond = Number(keyOf(keys, "per_second"));
  const total = perSecond * Number(keyOf(keys, "seconds"));
  const startedMs = performance.now();
  const reasons: Record<string, number> = {};
  let [count, failures, waitMaxMs, firstMs] = [0, 0, 0, -1];
  const endMs = startedMs + Number(keyOf(keys, "seconds")) * 1_000 + graceMs;
  for (let index = 0; index < total && performance.now() < endMs; index++) {
    const dueMs = startedMs + (index * 1_000) / perSecond;
    if (performance.now() < dueMs) await sleep(dueMs - performance.now());
    const calledMs = performance.now();
    try {
      const id = await (buffer ?? client).nextId();
      const entry = Buffer.alloc(16);
      entry.writeBigUInt64BE(id);
      entry.writeBigUInt64BE(BigInt(Date.now()), 8);
      out.write(entry);
      count++;
      if (firstMs < 0) firstMs = performance.now() - startedMs;
    } catch (error) {
      failures++;
      const { reason } = shownError(error);
      reasons[reason] = (reasons[reason] ?? 0) + 1;
    }
    waitMaxMs = Math.max(waitMaxMs, performance.now() - calledMs);
  }
  out.end();
  await finished(out);
  return { count, failures, reasons, waitMaxMs, firstMs };
}

/** Opens streams, reads the first chunk of each, and no more: they stay open until the client is closed. */
export async function streams(keys: Keys): Promise<unknown> {
  const { client, paused } = sessionOf(keys);
  const reasons: Record<string, number> = {};
  let failures = 0;
  const openOne = async (): Promise<void> => {
    const stream = client.stream(1_000_000);
    try {
      await stream.next();
      paused.push(stream);
    } catch (error) {
      failures++;
      const { reason } = shownError(error);
      reasons[reason] = (reasons[reason] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: Number(keyOf(keys, "count")) }, openOne));
  return { count: paused.length, failures, reasons };
}

export function stats(keys: Keys): unknown {
  const { buffer } = sessionOf(keys);
  if (buffer === undefined) throw new Error("This client has no buffer.");
  const { handedOut, reserved, dropped, waits, stock } = buffer.stats();
  return { handedOut, reserved, dropped, waits, stock };
}

export function close(keys: Keys): unknown {
  sessionOf(keys).client.close();
  sessions.delete(keyOf(keys, "client"));
  return {};
}
