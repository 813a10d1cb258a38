/**
 * Counts the lines of code of folders, without tests, blank lines and comments: `node tools/count-lines.ts`, or with
 * revisions to compare.
 */
import { execFileSync } from "node:child_process";
import { dirname } from "node:path";

const folders = ["src/http2", "src/server"];
const git = (...args: readonly string[]): string => execFileSync("git", args, { encoding: "utf8", maxBuffer: 2 ** 26 });

function linesOf(text: string): number {
  const lines = text.replace(/\/\*[\s\S]*?\*\//g, "").split("\n");
  return lines.filter((line) => line.trim() !== "" && !line.trim().startsWith("//")).length;
}

/** The lines of each folder at a revision. */
function countLines(revision: string): ReadonlyMap<string, number> {
  const paths = git("ls-tree", "-r", "--name-only", revision, ...folders).split("\n");
  const counts = new Map<string, number>();
  for (const path of paths.filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))) {
    const folder = dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + linesOf(git("show", `${revision}:${path}`)));
  }
  return counts;
}

const [first = "HEAD", ...others] = process.argv.slice(2);
for (const revision of [first, ...others]) {
  const counts = countLines(revision);
  console.log(`${revision}: ${[...counts.values()].reduce((sum, count) => sum + count, 0)}`);
  for (const [folder, count] of counts) console.log(`  ${String(count).padStart(5)} ${folder}`);
}
