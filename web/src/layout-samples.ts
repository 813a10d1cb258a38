import type { Layout } from "../../src/snowflake/layout.ts";

/** The languages that {@link writeSample} has a program of, each with its name and the file in `web/samples/`. */
export const sampleFiles = {
  javascript: ["JavaScript", "snowflake-id.mjs"],
  python: ["Python", "snowflake_id.py"],
  java: ["Java", "SnowflakeId.java"],
  go: ["Go", "snowflake_id.go"],
  ruby: ["Ruby", "snowflake_id.rb"],
  php: ["PHP", "snowflake_id.php"],
  csharp: ["C#", "SnowflakeId.cs"],
  rust: ["Rust", "snowflake_id.rs"],
} as const;

/** A language of {@link sampleFiles}. */
export type SampleLanguage = keyof typeof sampleFiles;

/** All of them, in their order. */
export const sampleLanguages = Object.keys(sampleFiles) as readonly SampleLanguage[];

const nsPerMs = 1_000_000;

/**
 * Puts a layout into a program that makes and reads IDs: its constants are those of Twitter's layout, each on a line of
 * its own, and have the same names in every language.
 */
export function writeSample(program: string, layout: Layout): string {
  const { timestamp, datacenter, worker, sequence } = layout;
  const constants: Readonly<Record<string, number>> = {
    EPOCH_MS: layout.epochMs,
    TICK_MS: Math.max(1, layout.tickNs / nsPerMs),
    TICKS_PER_MS: Math.max(1, nsPerMs / layout.tickNs),
    TIME_SHIFT: timestamp.shift,
    TIME_MAX: timestamp.max,
    TIME_BITS: layout.fields.find(({ kind }) => kind === "timestamp")?.bits ?? 0,
    DATACENTER_SHIFT: datacenter.shift,
    DATACENTER_MAX: datacenter.max,
    WORKER_SHIFT: worker.shift,
    WORKER_MAX: worker.max,
    SEQUENCE_SHIFT: sequence.shift,
    SEQUENCE_MAX: sequence.max,
    ALL_BITS: layout.bits,
  };
  return Object.entries(constants).reduce((text, [name, value]) => {
    // `TIME_MAX` here, `timeMax` in Go; a type may be between the name and the sign.
    const spelling = name.replaceAll("_", "_?");
    return text.replace(new RegExp(`(\\b${spelling}\\b[^=\\n]*= )-?\\d+`, "i"), `$1${value}`);
  }, program);
}
