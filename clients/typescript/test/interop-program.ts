/**
 * What test/interop and the conformance program start: a command a line on standard input, a line of JSON for each on
 * standard output. docs/internals/client-contract.md has the commands.
 */
import { createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { SnowlaneError } from "../src/errors.ts";
import type { IdClient } from "../src/id-client.ts";
import { createNodeClient } from "../src/node.ts";
import { createTextCodec, parseId, presetLayout } from "../src/offline.ts";
import { fleet } from "./interop-fleet.ts";
import { runSequenceStep } from "./interop-sequence.ts";
import { call, close, type Keys, keyOf, open, shownError, stats, step, streams, take } from "./interop-session.ts";

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
function takerOf(client: IdClient, keys: Keys): (count: number) => bigint | Promise<bigint | readonly bigint[]> {
  switch (keyOf(keys, "mode")) {
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
      const sequence = client.sequence(keyOf(keys, "sequence"));
      return async (count) => (await sequence.nextValues(Math.min(count, 1_000))).map(({ value }) => value);
    }
    default:
      return () => client.nextId();
  }
}

async function sequence(keys: Keys): Promise<unknown> {
  const client = createNodeClient({ endpoints: keyOf(keys, "endpoints").split(",") });
  const results: unknown[] = [];
  for (const step of keyOf(keys, "steps").split(",")) {
    results.push(await runSequenceStep(step, (name) => client.sequence(name)));
  }
  client.close();
  return { results };
}

async function issue(keys: Keys): Promise<unknown> {
  const timeoutMs = Number(keys["timeout_ms"] ?? 5_000);
  const token = keys["token"] === undefined ? {} : { token: keys["token"] };
  const client = createNodeClient({ endpoints: keyOf(keys, "endpoints").split(","), timeoutMs, ...token });
  const file = new IdFile(keyOf(keys, "out"));
  const take = takerOf(client, keys);
  const reasons: Record<string, number> = {};
  let leftCount = Number(keyOf(keys, "count"));
  const count = leftCount;
  let failures = 0;
  let succeededAtMs = performance.now();
  const call = async (): Promise<void> => {
    while (leftCount > 0) {
      // Bounded, so that a loop without a wait yields to the refill.
      const wanted = Math.min(
        leftCount,
        keyOf(keys, "mode") === "buffer" || keyOf(keys, "mode") === "single" ? 1 : leftCount,
      );
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

function parse(keys: Keys): unknown {
  const layout = presetLayout("twitter");
  const codec = createTextCodec(layout);
  const data = readFileSync(keyOf(keys, "in"));
  const lines: string[] = [];
  for (let at = 0; at < data.length; at += 8) {
    const id = data.readBigUInt64BE(at);
    const { ticks, datacenterId, workerId, sequence } = parseId(layout, id);
    const typed = codec.write(id, { form: "typed", typePrefix: "order" });
    if (codec.read(typed, { typePrefix: "order" }).id !== id) throw new Error(`${typed} reads as another ID.`);
    const texts = `${codec.write(id, { form: "base62" })} ${codec.write(id, { form: "uuid" })} ${typed}`;
    lines.push(`${id} ${ticks} ${datacenterId} ${workerId} ${sequence} ${texts}\n`);
  }
  writeFileSync(keyOf(keys, "out"), lines.join(""));
  return { count: lines.length };
}

const hello = (): unknown => ({ language: "typescript", leavesOut: [] });

const commands: Readonly<Record<string, (keys: Keys) => unknown>> = {
  hello,
  open,
  call,
  take,
  streams,
  stats,
  step,
  close,
  fleet,
  issue,
  parse,
  sequence,
};
for await (const line of createInterface({ input: process.stdin })) {
  const [command = "", ...pairs] = line.split(" ");
  const keys = Object.fromEntries(
    pairs.map((pair): [string, string] => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
  const run = commands[command];
  if (run === undefined) throw new Error(`There is no command ${command}.`);
  let result: unknown;
  try {
    result = await run(keys);
  } catch (error) {
    result = { error: { ...shownError(error), text: String(error) } };
  }
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
process.exit(0);
