import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type Layout, createLayout } from "../../../src/snowflake/layout.ts";
import { parseId } from "../../../src/snowflake/parse.ts";
import { layouts } from "../../../src/snowflake/presets.ts";
import { loadVectors } from "../../vectors/load-vectors.ts";
import { type SampleLanguage, sampleFiles, writeSample } from "../../../web/src/layout-samples.ts";

const files = loadVectors();

/** The layouts that differ: order, tick, epoch, a missing field, and a timestamp that no number of 53 bits holds. */
export const shownLayouts: readonly Layout[] = [
  layouts.twitter,
  layouts.sonyflake,
  layouts.instagram,
  createLayout(files.layouts.vectors.find(({ name }) => name === "custom-sequence-first")!),
  createLayout({
    name: "custom",
    epochMs: -1_000,
    tickNs: 1_000,
    fields: [
      { kind: "worker", bits: 3 },
      { kind: "timestamp", bits: 59 },
    ],
  }),
];

/** Runs a program with arguments. */
type RunSample = (args: readonly string[]) => Promise<string>;

/** Compiles the program of this name in this folder, if it has to be, and gives what runs it. */
export type PrepareSample = (folder: string, file: string) => Promise<RunSample>;

/** Checks that the program of a language makes and reads IDs of a layout, and refuses what does not fit. */
export async function checkSample(language: SampleLanguage, layout: Layout, prepare: PrepareSample): Promise<void> {
  const [, file] = sampleFiles[language];
  const folder = mkdtempSync(join(tmpdir(), "snowlane-sample-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = writeSample(readFileSync(join("web/samples", file), "utf8"), layout);
  if (layout !== layouts.twitter) expect(program).not.toContain("1288834974657");
  writeFileSync(join(folder, file), program);
  const run = await prepare(folder, file);
  const refused = (args: readonly string[]) => expect(run(args), args.join(" ")).rejects.toThrow(/not from 0 to|epoch/);

  const highest = (BigInt(layout.timestamp.max) << BigInt(layout.timestamp.shift)) | 1n;
  const ofVectors = files.ids.vectors.filter(({ layout: name }) => name === layout.name).map(({ id }) => BigInt(id));
  if (layout.name !== "custom") expect(ofVectors.length).toBeGreaterThan(20);
  const partsOf = (id: bigint): readonly string[] => {
    const { createTimeMs, datacenterId = 0, workerId = 0, sequence = 0 } = parseId(layout, id);
    return [createTimeMs, datacenterId, workerId, sequence].map(String);
  };
  const ids = [...ofVectors, 0n, highest];
  const decoded = (await run(["decode", ...ids.map(String)])).trimEnd().split("\n");
  expect(decoded.map((line, index) => [ids[index], line])).toEqual(ids.map((id) => [id, partsOf(id).join(" ")]));
  // Each ID that is made is a process of its own, so a few stand for the rest.
  for (const id of new Set([...ofVectors.slice(0, 3), 0n, highest])) {
    const { ticks } = parseId(layout, id);
    // Ticks shorter than a millisecond cannot be named by one.
    const isNamed = layout.tickNs >= 1_000_000 || ticks % (1_000_000 / layout.tickNs) === 0;
    if (isNamed) expect([id, await run(["make", ...partsOf(id)])]).toEqual([id, `${id}\n`]);
  }
  const { createTimeMs } = parseId(layout, highest);
  await refused(["make", String(createTimeMs), "0", String(layout.worker.max + 1), "0"]);
  await refused(["make", String(layout.epochMs - 1), "0", "0", "0"]);
  await refused(["decode", "-1"]);
  if (layout.bits < 63) await refused(["decode", String(1n << BigInt(layout.bits))]);
  const own = BigInt((await run([])).trim());
  expect(Math.abs(parseId(layout, own).createTimeMs - Date.now())).toBeLessThan(120_000);
}
