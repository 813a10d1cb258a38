/**
 * Types, lint, format, dead code and protos, all of them even when one fails: `npm run lint`. Zero warnings are
 * allowed.
 */
import { spawnSync } from "node:child_process";
import { runProgram } from "../test/support/processes/run-program.ts";

const bin = (name: string): string => `node_modules/.bin/${name}`;
const checks: readonly (readonly [string, readonly string[]])[] = [
  [bin("tsc"), ["-p", "tsconfig.json"]],
  [bin("tsc"), ["-p", "web/tsconfig.json"]],
  [bin("oxlint"), ["--type-aware", "--deny-warnings"]],
  [bin("biome"), ["format", "."]],
  [bin("knip"), ["--no-progress"]],
  [bin("buf"), ["lint"]],
  [bin("buf"), ["breaking", "proto", "--against", "proto/released.binpb"]],
];
await runProgram({
  call: "npm run lint --",
  summary: "Checks types, lint, format, dead code and protos",
  options: {},
  examples: ["npm run lint"],
  run: async () => {
    const failed = checks.filter(([command, args]) => spawnSync(command, args, { stdio: "inherit" }).status !== 0);
    return failed.length === 0 ? 0 : 1;
  },
});
