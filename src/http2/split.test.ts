import { expect, test } from "vitest";
import { soundScript, brokenScript } from "../../test/support/http2/http2-script.ts";
import { echoHandler, goAway, Harness, hello, windowUpdate } from "../../test/support/http2/http2-wire.ts";
import { SeededRandom } from "../../test/support/worlds/seeded-random.ts";

/**
 * Sends bytes in chunks and returns what the handlers saw, and what each stream was answered. Windows are wide, because
 * with a full one it may differ which stream gets the last bytes.
 */
function run(bytes: Buffer, nextChunkBytes: () => number): readonly string[] {
  const harness = new Harness({ greeted: false, onRequest: () => echoHandler(3_000), limits: { outputBytesMax: 1e9 } });
  const answers = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const end = at + nextChunkBytes();
    for (const line of harness.exchange(bytes.subarray(at, end))) {
      const [type, id] = line.split(" ");
      const key = type === "data" || type === "headers" || type === "rstStream" ? id! : "connection";
      // How a body is cut into frames depends on when the windows opened; whether it is complete does not.
      const size = type === "data" ? Number(line.split(" ")[2]) : 0;
      const text = answers.get(key) ?? "";
      if (size === 0) answers.set(key, `${text}, ${line}`);
      else
        answers.set(
          key,
          text.replace(/(?: \+(\d+))?$/, (_, sum) => ` +${size + Number(sum ?? 0)}`),
        );
    }
    at = end;
  }
  const events = harness.events.filter((event) => !event.startsWith("writable"));
  expect(harness.faults).toEqual([]);
  return [...events, ...[...answers].map(([key, text]) => `${key}: ${text}`).toSorted(), harness.connection.state];
}

/** A client that sends GOAWAY at some point, and goes on. Once its requests are over, nothing more is answered. */
function leavingScript(random: SeededRandom, requestCount: number): readonly Buffer[] {
  const frames = soundScript(random, requestCount);
  return frames.toSpliced(random.below(frames.length), 0, goAway());
}

test.each([
  ["sound", soundScript],
  ["broken", brokenScript],
  ["leaving", leavingScript],
])("any split of a %s client's bytes gives the same events and answers", (_, script) => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new SeededRandom(seed);
    const bytes = Buffer.concat([hello, windowUpdate(0, 1_000_000), ...script(random, 40)]);
    const whole = run(bytes, () => bytes.length);
    expect(
      run(bytes, () => 1 + random.below(40)),
      `seed ${seed}`,
    ).toEqual(whole);
    expect(
      run(bytes, () => 1 + random.below(5_000)),
      `seed ${seed}`,
    ).toEqual(whole);
    if (seed <= 5)
      expect(
        run(bytes, () => 1),
        `seed ${seed}, byte by byte`,
      ).toEqual(whole);
  }
});
