/**
 * Everything that a change can be checked by, in turn, even when one part fails: `npm run all`, or some parts by name.
 * CI calls the same.
 */
import { spawnSync } from "node:child_process";
import { runProgram } from "../test/support/processes/run-program.ts";
import { checkScripts } from "./test-suites.ts";

const parts = checkScripts();

await runProgram({
  call: "npm run all --",
  summary: "Runs the lint and every suite, those that need root or minutes of building too: hours the first time",
  options: {},
  words: { placeholder: "[PART...]", doc: `Some of them: ${parts.join(", ")}.`, known: parts },
  examples: ["npm run all", "npm run all -- lint test"],
  run: async (_, wanted) => {
    const chosen = wanted.length > 0 ? wanted : parts;
    const outcomes = chosen.map((part) => {
      const { status } = spawnSync("npm", ["run", "--silent", part], { stdio: "inherit" });
      return { part, isGood: status === 0 };
    });
    process.stdout.write("\n");
    for (const { part, isGood } of outcomes)
      process.stdout.write(`${part.padEnd(14)} ${isGood ? "passed" : "failed"}\n`);
    return outcomes.every(({ isGood }) => isGood) ? 0 : 1;
  },
});
