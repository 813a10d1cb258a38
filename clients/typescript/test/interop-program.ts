/** What test/interop starts: docs/internals/client-contract.md has its commands. */
import { createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { SnowlaneError } from "../src/errors.ts";
import type { IdClient } from "../src/id-client.ts";
import { createNodeClient } from "../src/node.ts";
import { createTextCodec, parseId, presetLayout } from "../src/offline.ts";
import { runSequenceStep } from "./interop-sequence.ts";

type Keys = Readonly<Record<string, string>>;

const [command = "", ...pairs] = process.argv.slice(2);
const keys: Keys = Object.fromEntries(
  pairs.map((pair): [string, string] => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at), pair.slice(at + 1)];
  }),
);

function key(name: string): string {
  const value = keys[name];
  if (value === undefined) throw new Error(`The key ${name} is missing.`);
  return value;
}

/** The token of `issue` and `errors`, if they are given one. */
const token = keys["token"] === undefined ? {} : { token: keys["token"] };

/** Writes IDs into a file, 8 bytes big-endian each. */
class IdFile {
  readonly #stream;
  #chunk = Buffer.alloc(65_536);
  #length = 0;

  constructor(path: string) {
    this.#stream = createWriteStream(path);
  }

  /** A promise where the disk is behind. */
  write(id: bigint): Promise<unknown> | undefined {
    this.#chunk.writeBigUInt64BE(id, this.#length);
    this.#length += 8;
    if (this.#length < this.#chunk.length) return undefined;
    const isReady = this.#stream.write(this.#chunk);
    this.#chunk = Buffer.alloc(65_536);
    this.#length = 0;
    return isReady ? undefined : once(this.#stream, "drain");
  }

  async close(): Promise<void> {
    this.#stream.end(this.#chunk.subarray(0, this.#length));
    await finished(this.#stream);
  }
}

/** How each mode takes up to `count` IDs at once. */
function takerOf(client: IdClient): (count: number) => bigint | Promise<bigint | readonly bigint[]> {
  switch (key("mode")) {
    case "buffer": {
      const buffer = client.prefetch({ maxAgeMs: Number(keys["max_age_ms"] ?? 5_000) });
      return () => buffer.nextId();
    }
    case "batch":
      return (count) => client.nextIds(Math.min(count, 10_000));
    case "stream":
      return async (count) => {
        const ids: bigint[] = [];
        for await (const chunk of client.stream(Math.min(count, 100_000))) ids.push(...chunk);
        return ids;
      };
    case "values": {
      const sequence = client.sequence(key("sequence"));
      return async (count) => (await sequence.nextValues(Math.min(count, 1_000))).map(({ value }) => value);
    }
    default:
      return () => client.nextId();
  }
}

async function sequence(): Promise<unknown> {
  const client = createNodeClient({ endpoints: key("endpoints").split(",") });
  const results: unknown[] = [];
  for (const step of key("steps").split(",")) {
    results.push(await runSequenceStep(step, (name) => client.sequence(name)));
  }
  client.close();
  return { results };
}

async function issue(): Promise<unknown> {
  const timeoutMs = Number(keys["timeout_ms"] ?? 5_000);
  const client = createNodeClient({ endpoints: key("endpoints").split(","), timeoutMs, ...token });
  const file = new IdFile(key("out"));
  const take = takerOf(client);
  const reasons: Record<string, number> = {};
  let leftCount = Number(key("count"));
  const count = leftCount;
  let failures = 0;
  let succeededAtMs = performance.now();
  const call = async (): Promise<void> => {
    while (leftCount > 0) {
      // Bounded so that a loop without a wait gives way to the refill.
      const wanted = Math.min(leftCount, key("mode") === "buffer" || key("mode") === "single" ? 1 : leftCount);
      leftCount -= wanted;
      try {
        let got = take(wanted);
        if (typeof got !== "bigint") got = (await got) as bigint;
        const ids = typeof got === "bigint" ? [got] : (got as readonly bigint[]);
        for (const id of ids) await file.write(id);
        leftCount += wanted - ids.length;
        succeededAtMs = performance.now();
      } catch (error) {
        leftCount += wanted;
        if (!(error instanceof SnowlaneError) || performance.now() - succeededAtMs > 60_000) throw error;
        failures++;
        reasons[error.reason] = (reasons[error.reason] ?? 0) + 1;
        await sleep(10);
      }
    }
  };
  await Promise.all(Array.from({ length: Number(keys["callers"] ?? 1) }, call));
  await file.close();
  client.close();
  return { count, failures, reasons };
}

async function outage(): Promise<unknown> {
  const client = createNodeClient({ endpoints: key("endpoints").split(",") });
  const buffer = client.prefetch({ outageMs: Number(key("outage_ms")) });
  const file = new IdFile(key("out"));
  const perStep = Number(key("per_second")) / 100;
  const startedMs = performance.now();
  let count = 0;
  let failures = 0;
  for (let step = 0; step < Number(key("seconds")) * 100; step++) {
    for (let taken = 0; taken < perStep; taken++) {
      try {
        await file.write(await buffer.nextId());
        count++;
      } catch (error) {
        if (!(error instanceof SnowlaneError)) throw error;
        failures++;
      }
    }
    await sleep(Math.max(0, startedMs + (step + 1) * 10 - performance.now()));
  }
  await file.close();
  const { waits } = buffer.stats();
  client.close();
  return { count, failures, waits };
}

function parse(): unknown {
  const layout = presetLayout("twitter");
  const codec = createTextCodec(layout);
  const data = readFileSync(key("in"));
  const lines: string[] = [];
  for (let at = 0; at < data.length; at += 8) {
    const id = data.readBigUInt64BE(at);
    const { ticks, datacenterId, workerId, sequence } = parseId(layout, id);
    const typed = codec.write(id, { form: "typed", typePrefix: "order" });
    if (codec.read(typed, { typePrefix: "order" }).id !== id) throw new Error(`${typed} reads as another ID.`);
    const texts = `${codec.write(id, { form: "base62" })} ${codec.write(id, { form: "uuid" })} ${typed}`;
    lines.push(`${id} ${ticks} ${datacenterId} ${workerId} ${sequence} ${texts}\n`);
  }
  writeFileSync(key("out"), lines.join(""));
  return { count: lines.length };
}

async function errors(): Promise<unknown> {
  const endpoints = key("endpoints").split(",");
  const client = createNodeClient({ endpoints, retryMax: 0, timeoutMs: 60_000, attemptTimeoutMs: 30_000, ...token });
  const found: unknown[] = [];
  for (let count = Number(key("count")); count > 0; count--) {
    try {
      await client.nextId();
      found.push(null);
    } catch (error) {
      if (!(error instanceof SnowlaneError)) throw error;
      const { reason, code, metadata, retryAfterMs = null } = error;
      found.push({ reason, code, metadata, retryAfterMs });
    }
  }
  client.close();
  return { errors: found };
}

const commands: Readonly<Record<string, () => unknown>> = { issue, outage, parse, errors, sequence };
const run = commands[command];
if (run === undefined) throw new Error(`There is no command ${command}.`);
process.stdout.write(`${JSON.stringify(await run())}\n`);
