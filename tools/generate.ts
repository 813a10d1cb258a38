/**
 * Writes everything in the repository that is generated: `npm run generate`. `npm run generate typescript` leaves out
 * the stubs of other languages and needs Node alone. Tests generate it anew and fail when something differs.
 */
import { runCommand } from "../test/support/run-command.ts";
import { generateClientStubs, generateTypeScriptStubs } from "./generate-stubs.ts";

const [part = "all"] = process.argv.slice(2);
if (part !== "all" && part !== "typescript") {
  console.error(
    `There is no part ${part}: \`npm run generate\` writes all, \`npm run generate typescript\` what needs Node alone.`,
  );
  process.exit(2);
}
try {
  await generateTypeScriptStubs(".");
  await runCommand(process.execPath, ["tools/generate-vectors.ts"]);
  await runCommand(process.execPath, ["tools/generate-configuration.ts"]);
  await runCommand(process.execPath, ["tools/readme-samples.ts"]);
  if (part === "all") await generateClientStubs(".");
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
