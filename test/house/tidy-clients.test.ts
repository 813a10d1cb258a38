import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { circleIn, importsOf, neighboursOf, reachableFrom, textOf, tracked } from "./imports.ts";

/** Tests which way imports point in the clients and in the page. */

const client = "clients/typescript/src";
const python = "clients/python/src/snowlane";
const sourcesIn = (folder: string): readonly string[] =>
  tracked.filter((path) => path.startsWith(`${folder}/`) && /(?<!\.test)\.ts$/.test(path) && !path.includes("/gen/"));
const pythonSources = tracked.filter((path) => path.startsWith(python) && path.endsWith(".py") && !/_gen\//.test(path));

const pythonImport = /^\s*from (\.+)([\w.]*) import (\([^)]*\)|[^\n(]+)/gm;

/** The modules of ours that a module imports, those for types included. */
function modulesOf(path: string): readonly string[] {
  return [...textOf(path).matchAll(pythonImport)].flatMap(([, dots = "", name = "", names = ""]) => {
    const folder = join(dirname(path), ...Array.from({ length: dots.length - 1 }, () => ".."));
    const base = join(folder, ...name.split("."));
    const within = [...names.matchAll(/\w+/g)].map(([each]) => join(base, `${each}.py`)).filter(existsSync);
    if (within.length > 0) return within;
    return [`${base}.py`, join(base, "__init__.py")].filter((file) => file !== path && existsSync(file));
  });
}

/** The modules that a module needs, itself included. */
function modulesFrom(path: string, reached = new Set<string>()): ReadonlySet<string> {
  if (reached.has(path)) return reached;
  reached.add(path);
  for (const next of modulesOf(path)) modulesFrom(next, reached);
  return reached;
}

test.each([
  [client, 30],
  ["web/src", 30],
  ["web/proof", 10],
] as const)("no circle among the files of %s, types included", (folder, least) => {
  const sources = sourcesIn(folder);
  expect(sources.length).toBeGreaterThan(least);
  expect(circleIn(new Map(sources.map((path) => [path, new Set(neighboursOf(path, "all"))])))).toBeUndefined();
});

test("no circle among the modules of the Python client, types included", () => {
  expect(pythonSources.length).toBeGreaterThan(30);
  const edges = new Map(pythonSources.map((path) => [path, new Set(modulesOf(path))]));
  expect([...edges.values()].reduce((sum, others) => sum + others.size, 0)).toBeGreaterThan(100);
  expect(circleIn(edges)).toBeUndefined();
});

test("the TypeScript client's buffer knows no call, its transport knows no ID, and a browser loads no transport", () => {
  const calls = new RegExp(`^${client}/(grpc/|rpc-|id-client|sequence)`);
  const within = (path: string): readonly string[] =>
    [...reachableFrom(`${client}/${path}`)].filter((other) => other.startsWith(client));
  expect(within("prefetch-buffer.ts").length).toBeGreaterThan(10);
  expect(within("prefetch-buffer.ts").filter((other) => calls.test(other))).toEqual([]);
  expect(within("offline.ts").filter((other) => calls.test(other))).toEqual([]);
  expect(within("grpc/grpc-transport.ts").filter((other) => !other.startsWith(`${client}/grpc/`))).toEqual([]);
  expect(within("web.ts").filter((other) => other.startsWith(`${client}/grpc/`))).toEqual([]);
  expect(within("id-client.ts").filter((other) => calls.test(other)).length).toBeGreaterThan(1);
});

test("the Python client's buffers and its reading of IDs know no channel", () => {
  const knowsChannels = (name: string): boolean => modulesFrom(join(python, name)).has(`${python}/_channels.py`);
  const modules = ["_buffer.py", "_aio_buffer.py", "_parse.py", "_text/__init__.py", "_layout.py"];
  expect(modules.filter(knowsChannels)).toEqual([]);
  expect(knowsChannels("_id_client.py")).toBe(true);
});

test("the simulation of the tests reaches the page by the view Proof alone, and its view knows no Node", () => {
  const toTests = (folder: string): readonly string[] =>
    sourcesIn(folder).flatMap((path) => neighboursOf(path, "all").filter((other) => other.startsWith("test/")));
  expect(toTests("web/src")).toEqual([]);
  expect(toTests("web/proof").length).toBeGreaterThan(10);
  expect(toTests("web/proof").filter((path) => !path.startsWith("test/simulation/"))).toEqual([]);
  const knowsNode = (path: string): boolean =>
    [...reachableFrom(path)].some((other) => importsOf(other).some((name) => name.startsWith("node:")));
  expect(knowsNode("web/proof/proof.ts")).toBe(false);
  expect(knowsNode("web/proof/run/run-shown.ts")).toBe(true);
});

test("the page's state and its texts know no view", () => {
  const drawing = (path: string): readonly string[] =>
    [...reachableFrom(`web/src/${path}`)].filter((other) =>
      importsOf(other).some((name) => /^(lit-html|uplot)/.test(name)),
    );
  expect(["state.ts", "texts/en.ts", "server.ts"].flatMap(drawing)).toEqual([]);
  expect(drawing("page.ts").length).toBeGreaterThan(3);
});
