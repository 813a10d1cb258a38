/** Runs the programs of examples/, with packages from their registries: `npm run test:examples`. */
import { spawnSync } from "node:child_process";
import { runProgram } from "../test/support/processes/run-program.ts";

await runProgram({
  call: "npm run test:examples --",
  summary: "Installs and runs each program of examples/ on a server, which takes minutes",
  options: {},
  examples: ["npm run test:examples"],
  run: async () => {
    const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "examples", "--reporter=verbose"];
    return spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
  },
});
