/**
 * Writes everything in the repository that is generated: `npm run generate`. `npm run generate typescript` leaves out
 * the stubs of other languages and needs Node alone. Tests generate it again and fail when something differs.
 */
import { runCommand } from "../test/support/processes/run-command.ts";
import { runProgram } from "../test/support/processes/run-program.ts";
import { generateClientStubs, generateTypeScriptStubs } from "./generate-stubs.ts";

await runProgram({
  call: "npm run generate --",
  summary: "Writes everything in the repository that is generated",
  options: {},
  words: {
    placeholder: "[typescript]",
    doc: "typescript leaves out the stubs of other languages and needs Node alone.",
    known: ["all", "typescript"],
  },
  examples: ["npm run generate", "npm run generate typescript"],
  run: async (_, [part = "all"]) => {
    try {
      await runCommand(process.execPath, ["tools/versions.ts"]);
      await runCommand(process.execPath, ["tools/repository-address.ts"]);
      await generateTypeScriptStubs(".");
      await runCommand(process.execPath, ["tools/generate-vectors.ts"]);
      await runCommand(process.execPath, ["tools/generate-configuration.ts"]);
      await runCommand(process.execPath, ["tools/generate-metrics.ts"]);
      await runCommand(process.execPath, ["tools/generate-api.ts"]);
      await runCommand(process.execPath, ["tools/generate-ways.ts"]);
      await runCommand(process.execPath, ["tools/generate-caught.ts"]);
      await runCommand(process.execPath, ["tools/chart-schema.ts"]);
      await runCommand(process.execPath, ["tools/llms-index.ts"]);
      await runCommand(process.execPath, ["tools/readme-samples.ts"]);
      await runCommand(process.execPath, ["tools/id-picture.ts"]);
      if (part === "all") await generateClientStubs(".");
      return 0;
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      return 1;
    }
  },
});
