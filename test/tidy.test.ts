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

/**
 * What each part of src/ may import of the others. A part is a folder, or a file beside them. docs/architecture.md
 * draws it.
 */
const pure = ["errors", "assert", "snowflake"];
const core = [...pure, "text", "clock", "worker"];
const served = [...core, "version", "gen", "service", "hot-requests", "hot-methods"];
const mayImport: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  assert: [],
  clock: [],
  version: [],
  snowflake: pure,
  text: [...pure, "text"],
  // A store may speak gRPC to its own server, by stubs of its own.
  worker: [...core.filter((part) => part !== "text"), "gen"],
  http2: ["http2"],
  service: [...core, "version", "gen", "service"],
  "hot-requests": ["gen"],
  "hot-methods": served,
  config: [...core, "http2", "config"],
  server: [...served, "http2", "config", "server"],
  cli: [...served, "config", "server", "cli"],
  index: [...core, "version"],
};

test("imports point one way", () => {
  const wrong = sources.flatMap((path) => {
    const allowed = mayImport[partOf(path)];
    if (allowed === undefined) return [`${path}: this part is not in the table`];
    return importsOf(path)
      .filter((name) => name.startsWith("."))
      .filter((name) => !allowed.includes(partOf(join(dirname(path), name))))
      .map((name) => `${path}: ${name}`);
  });
  expect(wrong).toEqual([]);
});

test("pure parts use no package and nothing of Node; the HTTP/2 engine knows no socket, no RPC and no clock", () => {
  const wrong = sources
    .filter((path) => ["snowflake", "text", "http2"].includes(partOf(path)))
    .flatMap((path) =>
      importsOf(path)
        .filter((name) => !name.startsWith("."))
        .map((name) => `${path}: ${name}`),
    );
  expect(wrong).toEqual([]);
});

test("protobuf and Connect are known above the worker only, and in the store that speaks gRPC to its server", () => {
  const above = new Set(["service", "hot-requests", "hot-methods", "server", "cli"]);
  const wrong = sources
    .filter((path) => !above.has(partOf(path)) && path !== "src/worker/stores/etcd.ts")
    .flatMap((path) =>
      importsOf(path)
        .filter((name) => /^@(bufbuild|connectrpc)\//.test(name))
        .map((name) => `${path}: ${name}`),
    );
  expect(wrong).toEqual([]);
});

/** Places in src/ where a pattern stands, comments aside. */
function placesOf(pattern: RegExp, exceptions: readonly string[]): readonly string[] {
  return sources
    .filter((path) => !exceptions.includes(path))
    .flatMap((path) =>
      textOf(path)
        .split("\n")
        .map((line, index) => ({ place: `${path}:${index + 1}`, line }))
        .filter(({ line }) => !/^\s*(\*|\/\/|\/\*)/.test(line) && pattern.test(line))
        .map(({ place }) => place),
    );
}

test("one file reads the clocks, one place reads the environment", () => {
  expect(placesOf(/\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b/, ["src/clock.ts"])).toEqual([]);
  expect(placesOf(/\bprocess\.env\b/, ["src/cli/main.ts"])).toEqual([]);
});

test("tests are never skipped, singled out or left for later", () => {
  const tests = tracked.filter((path) => path.endsWith(".test.ts") && path !== "test/tidy.test.ts");
  expect(tests.length).toBeGreaterThan(50);
  const wrong = tests.filter((path) =>
    /\b(test|it|describe)(\.\w+)*\.(skip|only|todo|fails|skipIf|runIf)\b/.test(textOf(path)),
  );
  expect(wrong).toEqual([]);
});

test("comments keep within 120 columns, as the formatter keeps code", () => {
  const written = tracked.filter((path) => /\.(ts|mjs)$/.test(path) && !path.includes("/gen/"));
  const wrong = written.flatMap((path) =>
    textOf(path)
      .split("\n")
      .map((line, index) => ({ line, place: `${path}:${index + 1}` }))
      .filter(({ line }) => line.length > 120 && /^\s*(\*|\/\/|\/\*)/.test(line) && !line.includes("http"))
      .map(({ place }) => place),
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

test("the list of decisions names each of them, by its heading", () => {
  const decisions = tracked.filter((path) => /^docs\/adr\/\d{4}-.*\.md$/.test(path));
  expect(decisions.length).toBeGreaterThan(0);
  const lines = decisions.map((path) => {
    const [, number, title] = /^# (\d{4}): (.+)$/m.exec(textOf(path)) ?? [];
    return `- [${number}](${basename(path)}): ${title}`;
  });
  expect(
    textOf("docs/adr/README.md")
      .split("\n")
      .filter((line) => line.startsWith("- ")),
  ).toEqual(lines);
});

test("no file has a name that says nothing", () => {
  const forbidden = /(^|[/-])(utils?|helpers?|common|types|impl|manager)\.ts$/;
  expect(tracked.filter((path) => forbidden.test(path) && !path.includes("/gen/"))).toEqual([]);
});
