/** Runs the programs of Learn in C# and Rust: `npm run test:samples`. */
import { spawnSync } from "node:child_process";
import { runProgram } from "../test/support/processes/run-program.ts";

await runProgram({
  call: "npm run test:samples --",
  summary: "Compiles and runs the programs of the page in C# and Rust, whose compilers npm test does without",
  options: {},
  examples: ["npm run test:samples"],
  run: async () => {
    const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "samples", "--reporter=verbose"];
    return spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
  },
});
