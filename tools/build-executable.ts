/** Builds the program as one executable for Linux on x64: `npm run build:executable`. */
import { join } from "node:path";
import { text } from "../src/config/setting-kinds.ts";
import { withFallback } from "../src/config/setting.ts";
import { runProgram } from "../test/support/processes/run-program.ts";
import { buildExecutable } from "./release/build-executable.ts";
import { endOnSignal } from "./release/end-on-signal.ts";
import { makeTargetFolder } from "./release/target-folder.ts";

const options = {
  to: withFallback(text({ name: "to", placeholder: "FOLDER", doc: "Where it goes." }), "release/executable"),
};

await runProgram({
  call: "npm run build:executable --",
  summary: "Builds the program as one executable for Linux on x64, with Node in it",
  options,
  examples: ["npm run build:executable", "npm run build:executable -- --to /tmp/snowlane"],
  run: async ({ to }) => {
    endOnSignal();
    makeTargetFolder(to);
    await buildExecutable(".", to);
    process.stdout.write(`${join(to, "snowlane")}\n`);
    return 0;
  },
});
