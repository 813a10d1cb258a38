import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { decomposeId, type Layout } from "../../src/snowflake/layout.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { vectorLayouts } from "../../tools/vectors/layout-vectors.ts";
import { createRandom, randomId } from "./random-ids.ts";

/** The same forms written as plainly as can be: BigInt, Date, node:crypto. */
function digits(id: bigint, alphabet: string, width: number): string {
  let text = "";
  for (let rest = id; text.length < width; rest /= BigInt(alphabet.length))
    text = alphabet[Number(rest % BigInt(alphabet.length))]! + text;
  return text;
}

function group(value: number, max: number): string {
  return String(value).padStart(Math.max(4, String(max).length), "0");
}

function bit(value: bigint, width: number): string {
  return width === 0 ? "" : value.toString(2).padStart(width, "0");
}

const base32Alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function serial(layout: Layout, id: bigint, offsetMinutes: number): string {
  const { ticks, datacenterId, workerId, sequence } = decomposeId(layout, id);
  const ns = BigInt(layout.epochMs) * 1_000_000n + BigInt(ticks) * BigInt(layout.tickNs);
  const ms = ns >= 0n ? ns / 1_000_000n : -((-ns + 999_999n) / 1_000_000n);
  const iso = new Date(Number(ms) + offsetMinutes * 60_000).toISOString().replace(/[^0-9]/g, "");
  const tickMs = layout.tickNs / 1e6;
  const timeLength = tickMs >= 1_000 ? 14 : tickMs >= 100 ? 15 : tickMs >= 10 ? 16 : 17;
  const perMs = Math.max(1, 1 / tickMs);
  const tick =
    perMs > 1 ? String((ns - ms * 1_000_000n) / BigInt(layout.tickNs)).padStart(String(perMs - 1).length, "0") : "";
  const worker = datacenterId * 2 ** layout.worker.bits + workerId;
  return (
    iso.slice(0, timeLength) +
    tick +
    group(worker, 2 ** (layout.worker.bits + layout.datacenter.bits) - 1) +
    group(sequence, layout.sequence.max)
  );
}

function uuid(layout: Layout, id: bigint): string {
  const { ticks } = decomposeId(layout, id);
  const ns = BigInt(layout.epochMs) * 1_000_000n + BigInt(ticks) * BigInt(layout.tickNs);
  const width = layout.fields.reduce((sum, field) => sum + field.bits, 0);
  const all = bit(id, width);
  const above = width - layout.timestamp.shift - layout.timestamp.bits;
  const others = all.slice(0, above) + all.slice(above + layout.timestamp.bits);
  const perMs = Math.max(1, 1e6 / layout.tickNs);
  const tick = bit((ns % 1_000_000n) / BigInt(layout.tickNs), perMs > 1 ? Math.ceil(Math.log2(perMs)) : 0);
  const fields = layout.fields.map((field) => `${field.kind}:${field.bits}`).join(",");
  const seed = `snowlane uuid 1\n${layout.epochMs}\n${layout.tickNs}\n${fields}\ndefault`;
  const filler = bit(BigInt(`0x${createHash("sha256").update(seed).digest("hex")}`), 256);
  const payload = (tick + others + filler).slice(0, 74);
  const bits = `${bit(ns / 1_000_000n, 48)}0111${payload.slice(0, 12)}10${payload.slice(12)}`;
  return BigInt(`0b${bits}`)
    .toString(16)
    .padStart(32, "0")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

test("every form equals the one written plainly", () => {
  const random = createRandom();
  for (const layout of vectorLayouts.values()) {
    const codec = createTextCodec({ layout, namespace: "default" });
    for (let i = 0; i < 3_000; i++) {
      const id = randomId(layout, random);
      const texts = codec.writeAll(id, { utcOffsetMinutes: -330, checkSymbol: true });
      const base32 = digits(id, base32Alphabet, 13) + `${base32Alphabet}*~$=U`[Number(id % 37n)];
      const expected: Readonly<Record<string, string>> = {
        decimal: String(id),
        hex: `0x${digits(id, "0123456789abcdef", 16)}`,
        base32,
        base58: digits(id, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 11),
        base62: digits(id, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 11),
        serial: serial(layout, id, -330),
        ...(layout.epochMs >= 0 ? { uuid: uuid(layout, id) } : {}),
      };
      for (const { format, text } of texts) {
        if (expected[format.form] !== undefined && text !== expected[format.form])
          throw new Error(`SEED=${random.seed} ${layout.name} ${id}: ${text} instead of ${expected[format.form]}`);
      }
      expect(texts.length).toBeGreaterThanOrEqual(6);
    }
  }
});
