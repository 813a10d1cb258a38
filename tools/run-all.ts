/**
 * Everything that a change can be checked by, in turn, even when one part fails: `npm run all`, or some parts by name.
 * CI calls the same.
 */
import { spawnSync } from "node:child_process";
import { onOff } from "../src/config/setting-kinds.ts";
import { runProgram } from "../test/support/processes/run-program.ts";
import { runApart } from "./run-apart.ts";
import { allParts } from "./whole-parts.ts";

/** Parts that are scripts of their own. */
const scripts: Readonly<Record<string, readonly string[]>> = {
  lint: ["lint"],
  test: ["test"],
  gutted: ["measure", "--", "faults", "--gutted"],
};
const parts = allParts();

await runProgram({
  call: "npm run all --",
  summary: "Runs the lint and every suite, those that need root or minutes of building too: hours the first time",
  options: { write: onOff({ name: "write", doc: "Puts every test of kube and release into docs/release.md." }) },
  words: { placeholder: "[PART...]", doc: `Some of them: ${parts.join(", ")}.`, known: parts },
  examples: ["npm run all", "npm run all -- lint test", "npm run all -- kube --write"],
  run: async ({ write }, wanted) => {
    const chosen = wanted.length > 0 ? wanted : parts;
    const outcomes: { readonly part: string; readonly isGood: boolean }[] = [];
    for (const part of chosen) {
      const script = scripts[part];
      const isGood = script === undefined ? await runApart(part, write) : runScript(script);
      outcomes.push({ part, isGood });
    }
    process.stdout.write("\n");
    for (const { part, isGood } of outcomes)
      process.stdout.write(`${part.padEnd(14)} ${isGood ? "passed" : "failed"}\n`);
    return outcomes.every(({ isGood }) => isGood) ? 0 : 1;
  },
});

function runScript(words: readonly string[]): boolean {
  return spawnSync("npm", ["run", "--silent", ...words], { stdio: "inherit" }).status === 0;
}
