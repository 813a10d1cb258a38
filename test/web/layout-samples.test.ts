import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Layout, createLayout } from "../../src/snowflake/layout.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { type SampleLanguage, sampleFiles, sampleLanguages, writeSample } from "../../web/src/layout-samples.ts";
import { findTool } from "../support/fetch/tools.ts";
import { runCommand } from "../support/processes/run-command.ts";

/** The programs that Learn shows, each run by its own language against the shared vectors. */

/** The layouts that differ: order, tick, epoch, a missing field, and a timestamp that no number of 53 bits holds. */
const shown: readonly Layout[] = [
  layouts.twitter,
  layouts.sonyflake,
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

const { vectors } = JSON.parse(readFileSync("test/vectors/ids.json", "utf8")) as {
  readonly vectors: readonly { readonly layout: string; readonly id: string }[];
};

/** Runs a program with arguments; in the folder where `compile` left its output. */
type Run = (args: readonly string[]) => Promise<string>;

async function prepare(language: SampleLanguage, folder: string, file: string): Promise<Run> {
  const path = join(folder, file);
  switch (language) {
    case "javascript":
      return (args) => runCommand(process.execPath, [path, ...args]);
    case "python":
      return (args) => runCommand("python3", [path, ...args]);
    case "java":
      await runCommand("javac", ["-d", folder, path]);
      return (args) =>
        runCommand("java", ["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", folder, "SnowflakeId", ...args]);
    case "go":
      await runCommand("go", ["build", "-o", join(folder, "program"), path], { env: { GO111MODULE: "off" } });
      return (args) => runCommand(join(folder, "program"), args);
    case "ruby": {
      const { path: ruby, env } = await findTool("ruby");
      return (args) => runCommand(ruby, ["--disable-gems", path, ...args], { env });
    }
    case "php": {
      const { path: php, env } = await findTool("php");
      return (args) => runCommand(php, ["-n", path, ...args], { env });
    }
  }
}

describe.each(sampleLanguages)("%s", (language) => {
  const [, file] = sampleFiles[language];

  test.each(shown)("makes and reads IDs of the layout $name", async (layout) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-sample-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const program = writeSample(readFileSync(join("web/samples", file), "utf8"), layout);
    if (layout !== layouts.twitter) expect(program).not.toContain("1288834974657");
    writeFileSync(join(folder, file), program);
    const run = await prepare(language, folder, file);
    const refused = (args: readonly string[]) =>
      expect(run(args), args.join(" ")).rejects.toThrow(/not from 0 to|epoch/);

    const highest = (BigInt(layout.timestamp.max) << BigInt(layout.timestamp.shift)) | 1n;
    const ofVectors = vectors.filter(({ layout: name }) => name === layout.name).map(({ id }) => BigInt(id));
    const ids = new Set([...(layout.name === "custom" ? [] : ofVectors.slice(0, 3)), 0n, highest]);
    for (const id of ids) {
      const { createTimeMs, datacenterId = 0, workerId = 0, sequence = 0, ticks } = parseId(layout, id);
      const parts = [createTimeMs, datacenterId, workerId, sequence].map(String);
      expect([id, await run(["decode", String(id)])]).toEqual([id, `${parts.join(" ")}\n`]);
      // Ticks shorter than a millisecond cannot be named by one.
      const isNamed = layout.tickNs >= 1_000_000 || ticks % (1_000_000 / layout.tickNs) === 0;
      if (isNamed) expect([id, await run(["make", ...parts])]).toEqual([id, `${id}\n`]);
    }
    const { createTimeMs } = parseId(layout, highest);
    await refused(["make", String(createTimeMs), "0", String(layout.worker.max + 1), "0"]);
    await refused(["make", String(layout.epochMs - 1), "0", "0", "0"]);
    await refused(["decode", "-1"]);
    if (layout.bits < 63) await refused(["decode", String(1n << BigInt(layout.bits))]);
    const own = BigInt((await run([])).trim());
    if (layout !== layouts.baidu)
      expect(Math.abs(parseId(layout, own).createTimeMs - Date.now())).toBeLessThan(120_000);
  });
});
