import { IdError } from "../../errors.ts";
import { CommandError, type ExitCode, exitCodeOf, exitCodes } from "../exit-code.ts";
import type { Paint, Tone } from "../paint.ts";

/** The result of one check of `snowlane doctor`. */
export interface Finding {
  /** The name of the check, in a word or two. */
  readonly check: string;
  /** `fail`: serve would not start, or not serve. `warn`: it would, but an operator should look. */
  readonly level: "ok" | "warn" | "fail";
  /** One sentence or two, without credentials. */
  readonly detail: string;
  /** What to do about it; absent where there is nothing to do. */
  readonly hint?: string;
  /** The exit code that serve would end with. */
  readonly exitCode?: ExitCode;
}

export function ok(check: string, detail: string): Finding {
  return { check, level: "ok", detail };
}

export function warn(check: string, detail: string, hint: string): Finding {
  return { check, level: "warn", detail, hint };
}

export function fail(check: string, detail: string, hint: string, exitCode: ExitCode): Finding {
  return { check, level: "fail", detail, hint, exitCode };
}

/** Makes a finding of an error that a check threw. @throws The error, if it is a fault of ours. */
export function failOf(check: string, error: unknown, hint: string): Finding {
  if (!(error instanceof IdError || error instanceof CommandError)) throw error;
  return fail(check, error.message, hint, exitCodeOf(error));
}

/** Writes findings for programs. */
export function findingToJson({ check, level, detail, hint }: Finding): string {
  return JSON.stringify({ check, level, detail, hint });
}

const tones: Readonly<Record<Finding["level"], Tone>> = { ok: "good", warn: "attention", fail: "bad" };

/** Writes findings for people. */
export function findingsToTable(findings: readonly Finding[], paint: Paint): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .map(({ check, level, detail, hint }) => {
      const line = `${paint(tones[level], level.padEnd(4))}  ${check.padEnd(width)}  ${detail}\n`;
      return hint === undefined ? line : `${line}${" ".repeat(width + 8)}${hint}\n`;
    })
    .join("");
}

/** The exit code for all of them: that of the first that failed. */
export function exitCodeOfFindings(findings: readonly Finding[]): ExitCode {
  return findings.find(({ level }) => level === "fail")?.exitCode ?? exitCodes.done;
}
