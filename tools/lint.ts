/**
 * Types, lint, format, dead code and protos, all of them even when one fails: `npm run lint`. Zero warnings are
 * allowed.
 */
import { spawnSync } from "node:child_process";

const bin = (name: string): string => `node_modules/.bin/${name}`;
const checks: readonly (readonly [string, readonly string[]])[] = [
  [bin("tsc"), ["-p", "tsconfig.json"]],
  [bin("oxlint"), ["--type-aware", "--deny-warnings"]],
  [bin("biome"), ["format", "."]],
  [bin("knip"), ["--no-progress"]],
  [bin("buf"), ["lint"]],
  [bin("buf"), ["breaking", "proto", "--against", "proto/released.binpb"]],
];
let failed = 0;
for (const [command, args] of checks) {
  const result = spawnSync(command, args, { stdio: "inherit" });
  if (result.status !== 0) failed++;
}
process.exit(failed === 0 ? 0 : 1);
