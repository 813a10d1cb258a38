import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { Code } from "@connectrpc/connect";
import { errorReasons } from "../src/errors.ts";
import { ErrorReason } from "../src/gen/snowlane/v1/error_reason_pb.ts";
import { codeOfReason } from "../src/service/status.ts";
import { version } from "../src/version.ts";

/** What the code base promises of itself, and docs/architecture.md says. */

const tracked = execFileSync("git", ["ls-files"], { encoding: "utf8" }).split("\n");
const sources = tracked.filter((path) => /^src\/.*(?<!\.test)\.ts$/.test(path) && !path.includes("/gen/"));
const textOf = (path: string): string => readFileSync(path, "utf8");

/** Module specifiers of imports and re-exports, static and dynamic. */
function importsOf(path: string): readonly string[] {
  const patterns = [/^(?:import|export)\s[^;]*?from\s+"([^"]+)"/gm, /\bimport\("([^"]+)"\)/g];
  return patterns.flatMap((pattern) => [...textOf(path).matchAll(pattern)].map(([, specifier]) => specifier ?? ""));
}

/** The folder of src/ that a path lies in, or the file's name where it lies in none. */
function partOf(path: string): string {
  const [first = "", second] = relative("src", path).split("/");
  return second === undefined ? basename(first, ".ts") : first;
}

test("pure parts import nothing above them, and nothing of Node", () => {
  const allowed: Readonly<Record<string, readonly string[]>> = {
    snowflake: ["snowflake", "errors", "assert"],
    text: ["text", "snowflake", "errors", "assert"],
  };
  const wrong = sources.flatMap((path) => {
    const parts = allowed[partOf(path)];
    if (parts === undefined) return [];
    return importsOf(path)
      .filter((name) => !name.startsWith(".") || !parts.includes(partOf(join(dirname(path), name))))
      .map((name) => `${path}: ${name}`);
  });
  expect(wrong).toEqual([]);
});

test("nothing below the service imports it, the server, the command line or the stubs", () => {
  const below = sources.filter((path) => ["http2", "snowflake", "text", "worker"].includes(partOf(path)));
  const above = new Set(["service", "server", "cli", "config"]);
  const wrong = below.flatMap((path) =>
    importsOf(path)
      .filter((name) => name.startsWith(".") && above.has(partOf(join(dirname(path), name))))
      .map((name) => `${path}: ${name}`),
  );
  expect(wrong).toEqual([]);
});

test("the reasons of src, proto and docs/errors.md are the same, with the same codes", () => {
  const inProto = Object.keys(ErrorReason).filter((name) => name !== "UNSPECIFIED");
  expect(inProto).toEqual(errorReasons);
  const rows = [...textOf("docs/errors.md").matchAll(/^\| `([A-Z_]+)` *\| ([A-Z_]+|none: at start) *\|/gm)];
  expect(rows.map(([, reason]) => reason)).toEqual(errorReasons);
  const codes: Readonly<Record<string, Code | undefined>> = codeOfReason;
  for (const [, reason = "", code = ""] of rows) {
    const name = codes[reason] === undefined ? undefined : Code[codes[reason]];
    const documented = code.startsWith("none") ? undefined : code.replaceAll("_", "").toLowerCase();
    expect([reason, documented]).toEqual([reason, name?.toLowerCase()]);
  }
});

test("the version stands the same in two places", () => {
  expect(JSON.parse(textOf("package.json")).version).toBe(version);
});

test("the configuration page is fresh", () => {
  const before = textOf("docs/configuration.md");
  execFileSync(process.execPath, ["tools/generate-configuration.ts"]);
  expect(textOf("docs/configuration.md")).toBe(before);
});

test("no file has a name that says nothing", () => {
  const forbidden = /(^|[/-])(utils?|helpers?|common|types|impl|manager)\.ts$/;
  expect(tracked.filter((path) => forbidden.test(path) && !path.includes("/gen/"))).toEqual([]);
});
