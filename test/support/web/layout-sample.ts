import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type Layout, createLayout } from "../../../src/snowflake/layout.ts";
import { parseId } from "../../../src/snowflake/parse.ts";
import { layouts } from "../../../src/snowflake/presets.ts";
import { loadVectors } from "../../vectors/load-vectors.ts";
import { type SampleLanguage, sampleFiles, writeSample } from "../../../web/src/layout-samples.ts";
import { allHistories, historyLayout, idsOf } from "./sample-history.ts";

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

/** What uses the program of a language: a file of test/samples/drivers/, of which drive.mjs says what they do. */
const driverFiles: Readonly<Record<SampleLanguage, string>> = {
  javascript: "drive.mjs",
  python: "drive.py",
  java: "Drive.java",
  go: "drive.go",
  ruby: "drive.rb",
  php: "drive.php",
  csharp: "Drive.cs",
  rust: "drive.rs",
};

/** Languages whose programs can be used by several threads at once. */
const threaded: ReadonlySet<SampleLanguage> = new Set(["python", "java", "go", "ruby", "csharp", "rust"]);

/** Texts of a program that make way for the driver: its package, and the clock where no other code can set it. */
const driven: Partial<Record<SampleLanguage, Readonly<Record<string, string>>>> = {
  java: { "System.currentTimeMillis()": "Drive.clock()" },
  go: { "package snowflakeid": "package main", "time.Now().UnixMilli()": "clock()" },
  csharp: { "DateTimeOffset.UtcNow.ToUnixTimeMilliseconds()": "Drive.Clock()" },
  rust: { "SystemTime::now().duration_since(UNIX_EPOCH)": "crate::clock()", ", SystemTime, UNIX_EPOCH": "" },
};

/** Runs a driver with arguments and a standard input. */
type RunSample = (args: readonly string[], input?: string) => Promise<string>;

/** Compiles the driver of a folder with the program beside it, if it has to be, and gives what runs it. */
export type PrepareSample = (folder: string, driver: string) => Promise<RunSample>;

/** Puts the program of a language for a layout into a folder of its own, beside its driver. */
async function prepareProgram(language: SampleLanguage, layout: Layout, prepare: PrepareSample): Promise<RunSample> {
  const [, file] = sampleFiles[language];
  const folder = mkdtempSync(join(tmpdir(), "snowlane-sample-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  let program = writeSample(readFileSync(join("web/samples", file), "utf8"), layout);
  if (layout !== layouts.twitter) expect(program).not.toContain("1288834974657");
  for (const [text, own] of Object.entries(driven[language] ?? {})) {
    expect(program).toContain(text);
    program = program.replaceAll(text, own);
  }
  writeFileSync(join(folder, file), program);
  const driver = driverFiles[language];
  copyFileSync(join("test/samples/drivers", driver), join(folder, driver));
  return prepare(folder, driver);
}

/** Checks that the program of a language makes and reads IDs of a layout, and refuses what does not fit. */
export async function checkSample(language: SampleLanguage, layout: Layout, prepare: PrepareSample): Promise<void> {
  const run = await prepareProgram(language, layout, prepare);
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
  const [own] = (await run(["lives", "1", "1"])).split(" ");
  expect(Math.abs(parseId(layout, BigInt(own!)).createTimeMs - Date.now())).toBeLessThan(120_000);
}

/** Checks that the program of a language makes the IDs that the rules say, in every short history. */
export async function checkHistories(language: SampleLanguage, prepare: PrepareSample): Promise<void> {
  const run = await prepareProgram(language, historyLayout, prepare);
  const histories = allHistories("mtrb", 5);
  const outcomes = (await run(["histories"], `${histories.join("\n")}\n`)).trimEnd().split("\n");
  expect(outcomes.length).toBe(histories.length);
  for (const [index, history] of histories.entries())
    expect([history, outcomes[index]]).toEqual([history, idsOf(history).join(" ")]);
}

/** Checks by the clock of the machine that no ID repeats over restarts and threads, and that an import says nothing. */
export async function checkLives(language: SampleLanguage, prepare: PrepareSample): Promise<void> {
  const run = await prepareProgram(language, layouts.twitter, prepare);
  expect(await run([])).toBe("");
  const lives = (await run(["lives", "20", "10000"])).trimEnd().split("\n");
  expect(lives.length).toBe(20);
  let last = -1n;
  for (const life of lives) {
    const [from, to] = life.split(" ").map(BigInt);
    expect(from! > last, life).toBe(true);
    last = to!;
  }
  if (!threaded.has(language)) return;
  const lines = (await run(["threads", "8", "5000"])).trimEnd().split("\n");
  expect(lines.length).toBe(8);
  for (const line of lines) {
    const ids = line.split(" ").map(BigInt);
    expect(ids.every((id, index) => index === 0 || id > ids[index - 1]!)).toBe(true);
  }
  expect(new Set(lines.flatMap((line) => line.split(" "))).size).toBe(40_000);
}
