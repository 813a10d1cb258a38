import { expect, test } from "vitest";
import { brokenScript } from "../../test/support/http2/http2-script.ts";
import { Harness, hello, okBlock } from "../../test/support/http2/http2-wire.ts";
import { SeededRandom } from "../../test/support/worlds/seeded-random.ts";
import type { ServerStream, StreamHandler } from "./stream.ts";

/**
 * How many connections are tried: `SNOWLANE_FUZZ_COUNT=1000000` for the long run, `SNOWLANE_FUZZ_SEED` to see one
 * again.
 */
const count = Number(process.env["SNOWLANE_FUZZ_COUNT"] ?? 4_000);
const firstSeed = Number(process.env["SNOWLANE_FUZZ_SEED"] ?? 1);

/** Answers early, late, in pieces or not at all. */
function whimsicalHandler(random: SeededRandom): StreamHandler {
  const answer = (stream: ServerStream): void => {
    if (stream.isClosed || stream.hasResponded) return;
    if (random.oneIn(10)) {
      stream.reset(random.below(14));
      return;
    }
    stream.respond(okBlock, "body");
    stream.write(Buffer.alloc(random.below(9_000)));
    if (!random.oneIn(4)) stream.end(random.oneIn(2) ? okBlock : undefined);
  };
  const whim = random.below(4);
  return {
    onData: (stream, _bytes, start, end) => {
      if (!random.oneIn(5)) stream.consume(end - start);
      if (whim === 0) answer(stream);
    },
    onEnd: (stream) => {
      if (whim === 1) answer(stream);
    },
    onWritable: (stream) => {
      if (stream.hasResponded && random.oneIn(2)) stream.write(Buffer.alloc(random.below(9_000)));
    },
    onStall: (stream) => {
      if (random.oneIn(2)) stream.dropQueued();
    },
  };
}

function fuzzOne(seed: number): "alive" | "over" {
  const random = new SeededRandom(seed);
  const harness = new Harness({ onRequest: () => whimsicalHandler(random) });
  for (const bytes of brokenScript(random, 12)) {
    const cut = random.below(bytes.length + 1);
    harness.exchange(bytes.subarray(0, cut), random.oneIn(30) ? hello : Buffer.alloc(0));
    harness.exchange(bytes.subarray(cut));
    if (random.oneIn(20)) harness.connection.setWritable(random.oneIn(2));
    if (random.oneIn(20)) harness.wait(random.below(4) * 10_000);
    if (random.oneIn(200)) harness.connection.drain(harness.nowMs);
  }
  if (harness.faults.length > 0) throw new Error(`seed ${seed}`, { cause: harness.faults[0] });
  const state = harness.connection.state;
  harness.connection.abort();
  // Every request ends exactly once, whatever happens to the connection.
  if (harness.connection.openCount !== 0) throw new Error(`seed ${seed}: a stream is left open`);
  if (harness.streams.some((stream) => !stream.isClosed)) throw new Error(`seed ${seed}: a stream was lost`);
  const aborted = harness.events.filter((event) => event.startsWith("abort")).map((event) => event.split(" ")[1]);
  if (new Set(aborted).size !== aborted.length) throw new Error(`seed ${seed}: a stream was aborted twice`);
  return state === "open" ? "alive" : "over";
}

test("no sequence of broken frames makes the engine throw, lose a stream or end one twice", {
  timeout: Infinity,
}, () => {
  const outcomes = { alive: 0, over: 0 };
  for (let seed = firstSeed; seed < firstSeed + count; seed++) outcomes[fuzzOne(seed)]++;
  // The generator is worth something only if it leads to both ends.
  expect(outcomes.alive).toBeGreaterThan(count / 50);
  expect(outcomes.over).toBeGreaterThan(count / 50);
});
