/** The imports of the project's TypeScript, as a graph of files. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The files of the project. */
export const tracked: readonly string[] = execFileSync("git", ["ls-files"], { encoding: "utf8" }).split("\n");

/** The text of a file. */
export const textOf = (path: string): string => readFileSync(path, "utf8");

const staticImport = /^(?:import|export)\s[^;]*?from\s+"([^"]+)"/gm;
const lateImport = /\bimport\("([^"]+)"\)/g;

/** Module specifiers of imports and re-exports, static and dynamic. */
export function importsOf(path: string, patterns: readonly RegExp[] = [staticImport, lateImport]): readonly string[] {
  return patterns.flatMap((pattern) => [...textOf(path).matchAll(pattern)].map(([, specifier]) => specifier ?? ""));
}

/** The files of ours that a file imports. `static`: without those that it loads when they are needed. */
export function neighboursOf(path: string, kinds: "all" | "static"): readonly string[] {
  const names = kinds === "all" ? importsOf(path) : importsOf(path, [staticImport]);
  return names.filter((name) => /^\..*\.ts$/.test(name)).map((name) => join(dirname(path), name));
}

/** The files that a file needs, itself included. */
export function reachableFrom(path: string, reached = new Set<string>()): ReadonlySet<string> {
  if (reached.has(path)) return reached;
  reached.add(path);
  for (const next of neighboursOf(path, "all")) reachableFrom(next, reached);
  return reached;
}

/** A circle in a graph, as the names along it; undefined where there is none. */
export function circleIn(edges: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (node: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of edges.get(node) ?? []) {
      const circle = visit(next, [...way, node]);
      if (circle !== undefined) return circle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of edges.keys()) {
    const circle = visit(node, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
