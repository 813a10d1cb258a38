/**
 * Runs the sources, by type stripping, without one rule: `--import` this file with the name of a mutant behind a
 * question mark. The sources themselves stay as they are.
 */
import { readFileSync } from "node:fs";
import { flushCompileCache, registerHooks } from "node:module";
import { type Mutant, patched } from "../simulation/mutant.ts";
import { mutants } from "../simulation/mutants.ts";

/** By then a server is loaded. */
const flushMs = 2_000;

type Slip = Pick<Mutant, "name" | "file" | "find" | "replace">;

/** Settings of SQLite that a power cut must show to be too weak. */
const weakSettings: readonly Slip[] = ["FULL", "OFF"].map((level) => ({
  name: `synchronous-${level.toLowerCase()}`,
  file: "src/store/sqlite/store-file.ts",
  find: "PRAGMA synchronous=EXTRA;",
  replace: `PRAGMA synchronous=${level};`,
}));

function findSlip(name: string): Slip | undefined {
  return [...mutants, ...weakSettings].find((each) => each.name === name);
}

/**
 * The arguments for Node that come before a program of the sources, and take a rule out of it.
 *
 * @param name - Of a mutant of test/simulation/mutants.ts, or of a weak setting.
 * @throws Error if there is none of that name.
 */
export function gutting(name: string): readonly string[] {
  if (findSlip(name) === undefined) throw new Error(`There is no mutant "${name}".`);
  return ["--import", `${import.meta.url}?${name}`];
}

const slip = findSlip(new URL(import.meta.url).search.slice(1));
if (slip !== undefined) {
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/${slip.file}`)) return loaded;
      return { ...loaded, source: patched(readFileSync(new URL(url), "utf8"), slip) };
    },
  });
  // Node does so at its end, which a server that is killed does not have: the next one would compile everything again.
  setTimeout(flushCompileCache, flushMs).unref();
}
