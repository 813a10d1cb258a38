/** Runs the tests on a real kube-apiserver, which is built first: `npm run test:kube`. */
import { spawnSync } from "node:child_process";
import { runProgram } from "../test/support/processes/run-program.ts";

await runProgram({
  call: "npm run test:kube --",
  summary: "Builds a kube-apiserver once, which takes minutes, and tests the Kubernetes store on it",
  options: {},
  examples: ["npm run test:kube"],
  run: async () => {
    const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "kube", "--reporter=verbose"];
    return spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
  },
});
