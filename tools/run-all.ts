/**
 * Everything that a change can be checked by, in turn, even when one part fails: `npm run all`, or some parts by name.
 * CI calls the same.
 */
import { spawnSync } from "node:child_process";
import { onOff } from "../src/config/setting-kinds.ts";
import { runProgram } from "../test/support/processes/run-program.ts";
import { runApart } from "./run-apart.ts";
import { suitesApart } from "./test-suites.ts";

const scripts = ["lint", "test"];
const parts = [...scripts, ...suitesApart()];

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
      const isGood = scripts.includes(part) ? runScript(part) : await runApart(part, write);
      outcomes.push({ part, isGood });
    }
    process.stdout.write("\n");
    for (const { part, isGood } of outcomes)
      process.stdout.write(`${part.padEnd(14)} ${isGood ? "passed" : "failed"}\n`);
    return outcomes.every(({ isGood }) => isGood) ? 0 : 1;
  },
});

function runScript(name: string): boolean {
  return spawnSync("npm", ["run", "--silent", name], { stdio: "inherit" }).status === 0;
}
