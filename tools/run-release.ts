/** Builds and runs what is released: `npm run test:release`. */
import { spawnSync } from "node:child_process";
import { runProgram } from "../test/support/processes/run-program.ts";

await runProgram({
  call: "npm run test:release --",
  summary: "Builds the packages, the image and the chart as a release has them, and runs each; takes minutes and root",
  options: {},
  examples: ["npm run test:release"],
  run: async () => {
    const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "release", "--reporter=verbose"];
    return spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
  },
});
