import { IdError } from "../errors.ts";
import { CommandError, type ExitCode, exitCodeOf, exitCodes } from "./exit-code.ts";

/** What `snowlane doctor` found in one place. */
export interface Finding {
  /** What was looked at, in a word or two. */
  readonly check: string;
  /** `fail`: serve would not start, or not serve. `warn`: it would, but somebody should look. */
  readonly level: "ok" | "warn" | "fail";
  /** One sentence or two, without credentials. */
  readonly detail: string;
  /** What to do about it; absent where nothing is to be done. */
  readonly cure?: string;
  /** What serve would end with. */
  readonly exitCode?: ExitCode;
}

export function ok(check: string, detail: string): Finding {
  return { check, level: "ok", detail };
}

export function warn(check: string, detail: string, cure: string): Finding {
  return { check, level: "warn", detail, cure };
}

export function fail(check: string, detail: string, cure: string, exitCode: ExitCode): Finding {
  return { check, level: "fail", detail, cure, exitCode };
}

/** Makes a finding of what a check threw. @throws What is a fault of ours. */
export function failOf(check: string, error: unknown, cure: string): Finding {
  if (!(error instanceof IdError || error instanceof CommandError)) throw error;
  return fail(check, error.message, cure, exitCodeOf(error));
}

/** What programs read. */
export function findingToJson({ check, level, detail, cure }: Finding): string {
  return JSON.stringify({ check, level, detail, cure });
}

/** What people read. */
export function findingsToTable(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .map(({ check, level, detail, cure }) => {
      const line = `${level.padEnd(4)}  ${check.padEnd(width)}  ${detail}\n`;
      return cure === undefined ? line : `${line}${" ".repeat(width + 8)}${cure}\n`;
    })
    .join("");
}

/** The exit code for all of them: that of the first that failed. */
export function exitCodeOfFindings(findings: readonly Finding[]): ExitCode {
  return findings.find(({ level }) => level === "fail")?.exitCode ?? exitCodes.done;
}
