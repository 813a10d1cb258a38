import { execFileSync } from "node:child_process";
import { basename, dirname, relative } from "node:path";
import { expect, test } from "vitest";
import { Code } from "@connectrpc/connect";
import { errorReasons } from "../../src/errors.ts";
import { ErrorReason } from "../../src/gen/snowlane/v1/error_reason_pb.ts";
import { codeOfReason } from "../../src/service/connect-error.ts";
import { version } from "../../src/version.ts";
import { circleIn, importsOf, neighboursOf, reachableFrom, textOf, tracked } from "./imports.ts";

/** Tests the rules of the code base that docs/architecture.md states. */

const sources = tracked.filter((path) => /^src\/.*(?<!\.test)\.ts$/.test(path) && !path.includes("/gen/"));

/** The folder of src/ that a path lies in, or the file's name where it lies in none. All that is generated is one. */
function partOf(path: string): string {
  const folder = relative("src", dirname(path));
  if (folder === "") return basename(path, ".ts");
  return folder.startsWith("gen/") ? "gen" : folder;
}

/**
 * What each part of src/ may import of the others, beside itself. A part is a folder, or a file beside the folders.
 * docs/architecture.md draws it.
 */
const pure = ["errors", "assert", "snowflake"];
const stores = ["store", "store/link", "store/sqlite", "store/zookeeper", "store/kubernetes"];
const core = [
  ...pure,
  "text",
  "clock",
  "kernel-random",
  "own-files",
  "queue",
  ...stores,
  "lease",
  "lease/records",
  "lease/resume",
  "operator",
  "operator/store-move",
  "worker",
  "sequence",
  "sequence/stores",
];
const services = ["service", "service/message", "service/hot"];
const served = [...core, "version", "gen", ...services];
/** What each folder of commands needs beside `ofCommands`, and the folders of commands below it. */
const commandFolders = {
  "cli/audit": ["cli/backfill", "cli/ids"],
  "cli/backfill": ["cli/ids"],
  "cli/completions": [],
  "cli/doctor": ["cli/store", "cli/workers"],
  "cli/ids": ["text/find", "cli/server", "cli/store"],
  "cli/sequences": ["cli/server", "cli/store"],
  "cli/server": [],
  "cli/sql": [],
  "cli/store": [],
  "cli/workers": ["cli/server", "cli/store"],
};
const ofCommands = [...served, "config", "server", "server/listen", "server/call", "server/guards", "cli"];
const mayImport: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  assert: [],
  "kernel-random": ["errors"],
  "own-files": [],
  "node-version": [],
  version: [],
  clock: ["errors", "assert"],
  queue: ["errors", "assert", "clock"],
  snowflake: ["errors", "assert"],
  text: pure,
  "text/find": [...pure, "text"],
  // A store may speak gRPC to its own server, by stubs of its own.
  store: ["errors", "assert", "clock", "gen", ...stores],
  "store/link": ["errors", "assert", "clock", "kernel-random"],
  "store/sqlite": ["errors", "assert", "clock", "kernel-random", "own-files", "store", "store/link"],
  "store/zookeeper": ["errors", "assert", "clock", "store", "store/link"],
  "store/kubernetes": ["errors", "assert", "clock", "store", "store/link"],
  "lease/records": ["errors", "snowflake", "store"],
  lease: [...pure, "clock", "store", "lease/records"],
  "lease/resume": [...pure, "clock", "store", "lease", "lease/records"],
  "operator/store-move": [...pure, "clock", "store", "lease", "lease/records", "operator"],
  operator: [...pure, "clock", "store", "lease", "lease/records"],
  worker: [...pure, "clock", "kernel-random", "queue", "store", "lease", "lease/records", "lease/resume"],
  sequence: ["errors", "assert", "clock", "kernel-random", "queue", "store", "sequence/stores"],
  "sequence/stores": [
    "errors",
    "assert",
    "version",
    "clock",
    "kernel-random",
    "store",
    "store/link",
    "store/sqlite",
    "sequence",
  ],
  "http2/hpack": [],
  http2: ["http2/hpack"],
  service: [...core, "version", "gen", "service/message", "service/hot"],
  "service/message": [...pure, "text", "gen", "sequence"],
  "service/hot": [...pure, "gen", "clock", "queue", "worker", "sequence", "service/message"],
  config: [...core, "http2"],
  server: [
    ...served,
    "config",
    "server/listen",
    "server/http",
    "server/call",
    "server/guards",
    "server/metrics",
    "server/traces",
  ],
  "server/listen": ["errors", "clock", "config", "http2"],
  "server/metrics": [...served, "server/call", "server/http", "server/listen"],
  "server/traces": ["clock", "queue", "config", "version", "gen", "server/call"],
  "server/guards": ["errors", "clock", "queue", "config", "server/call", "server/listen"],
  "server/call": [
    "errors",
    "clock",
    "queue",
    "gen",
    "own-files",
    "http2",
    "http2/hpack",
    "service",
    "service/hot",
    "server/call/envelope",
  ],
  "server/call/envelope": ["gen", "snowflake", "service/hot"],
  "server/http": ["errors", "clock", "http2", "http2/hpack", "server/listen", "server/call", "server/call/envelope"],
  cli: [...served, "node-version", "config", "server", ...Object.keys(commandFolders)],
  ...Object.fromEntries(Object.entries(commandFolders).map(([name, below]) => [name, [...ofCommands, ...below]])),
  library: [...pure, "text", "clock", "worker", "version", "node-version"],
  index: [...core, "library"],
};

test("imports point one way", () => {
  const wrong = sources.flatMap((path) => {
    const part = partOf(path);
    const allowed = mayImport[part];
    if (allowed === undefined) return [`${path}: this part is not in the table`];
    return neighboursOf(path, "all")
      .map((target) => ({ target, other: partOf(target) }))
      .filter(({ other }) => other !== part && !allowed.includes(other))
      .map(({ target }) => `${path}: ${target}`);
  });
  expect(wrong).toEqual([]);
});

test("a circle is found where there is one", () => {
  const line = new Map([
    ["a", new Set(["b", "c"])],
    ["b", new Set(["c"])],
  ]);
  expect(circleIn(line)).toBeUndefined();
  expect(circleIn(new Map([...line, ["c", new Set(["b"])]]))).toEqual(["b", "c", "b"]);
});

test("no circle among files, types and late imports included", () => {
  const edges = new Map(sources.map((path) => [path, new Set(neighboursOf(path, "all"))]));
  expect(edges.size).toBeGreaterThan(100);
  expect(circleIn(edges)).toBeUndefined();
});

test("no circle among folders; drivers that are loaded when they are needed are plug-ins, and do not count", () => {
  const edges = new Map<string, Set<string>>();
  for (const path of sources) {
    const folder = partOf(path);
    const others = edges.get(folder) ?? new Set();
    edges.set(folder, others);
    for (const target of neighboursOf(path, "static")) if (partOf(target) !== folder) others.add(partOf(target));
  }
  expect(edges.size).toBeGreaterThan(15);
  expect(circleIn(edges)).toBeUndefined();
});

test("links to databases and the file of the embedded store know nothing of worker records", () => {
  const shared = sources.filter((path) => /^src\/store\/(link\/|sqlite\/store-file\.ts$)/.test(path));
  expect(shared.length).toBeGreaterThan(5);
  const knowing = shared.filter((path) =>
    [...reachableFrom(path)].some((other) => /^src\/(store\/record-store|lease\/|worker\/)/.test(other)),
  );
  expect(knowing).toEqual([]);
  expect(reachableFrom("src/store/sqlite/record-file.ts")).toContain("src/store/record-store.ts");
});

test("pure parts use no package and nothing of Node; the HTTP/2 engine knows no socket, no RPC and no clock", () => {
  const wrong = sources
    .filter((path) => ["snowflake", "text", "http2"].includes(partOf(path).split("/")[0] ?? ""))
    .flatMap((path) =>
      importsOf(path)
        .filter((name) => !name.startsWith("."))
        .map((name) => `${path}: ${name}`),
    );
  expect(wrong).toEqual([]);
});

test("protobuf and Connect are known above the worker only, and in the store that speaks gRPC to its server", () => {
  const above = new Set(["service", "server", "cli"]);
  const wrong = sources
    .filter((path) => !above.has(partOf(path).split("/")[0] ?? "") && path !== "src/store/etcd.ts")
    .flatMap((path) =>
      importsOf(path)
        .filter((name) => /^@(bufbuild|connectrpc)\//.test(name))
        .map((name) => `${path}: ${name}`),
    );
  expect(wrong).toEqual([]);
});

/** Places in src/ that match a pattern, comments aside. */
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
  expect(placesOf(/\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b/, ["src/clock/clock.ts"])).toEqual([]);
  // The library has no command line: it reads one variable, where it is opened.
  expect(placesOf(/\bprocess\.env\b/, ["src/cli/run.ts", "src/library/open-snowlane.ts"])).toEqual([]);
});

/** Number() of an ID, and functions that make a number of a text that may be one. A count of IDs is not an ID. */
const idAsNumber = /\b(?:Number\((?:[\w.?!]*\.)?ids?\b|Number\(BigInt\b|(?:Number\.)?parse(?:Int|Float)\()/;

test("the page makes no number of an ID, because 53 bits would lose its last digits", () => {
  const wrong = ["Number(id)", "Number(parsed.id)", "Number(ids[0])", "Number(BigInt(text))", "parseInt(text)"];
  for (const code of wrong) expect(code).toMatch(idAsNumber);
  for (const code of ["Number(sample.idsCount)", "Number(page.workerIdCount)"]) expect(code).not.toMatch(idAsNumber);
  const views = tracked.filter((path) => /^web\/src\/.*\.ts$/.test(path));
  expect(views.length).toBeGreaterThan(30);
  expect(views.filter((path) => idAsNumber.test(textOf(path)))).toEqual([]);
});

test("tests are never skipped, singled out or left for later", () => {
  const tests = tracked.filter((path) => path.endsWith(".test.ts") && path !== "test/house/tidy.test.ts");
  expect(tests.length).toBeGreaterThan(50);
  const wrong = tests.filter((path) =>
    /\b(test|it|describe)(\.\w+)*\.(skip|only|todo|fails|skipIf|runIf)\b/.test(textOf(path)),
  );
  expect(wrong).toEqual([]);
});

test("comments keep within 120 columns, as the formatter keeps code", () => {
  const written = tracked.filter(
    (path) =>
      // docs/style.md leaves the comments of the protos as they are; lines of the model are code and comment at once.
      /\.(c|css|go|html|java|mjs|php|py|rb|service|ts|yaml)$/.test(path) &&
      !/(^third_party|\/_?gen|\/generated)\//.test(path),
  );
  const wrong = written.flatMap((path) =>
    textOf(path)
      .split("\n")
      .map((line, index) => ({ line, place: `${path}:${index + 1}` }))
      .filter(({ line }) => line.length > 120 && /^\s*(\*|\/\/|\/\*|#)/.test(line) && !line.includes("http"))
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

test("the version is the same in two places", () => {
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
