/** `npm run measure -- record`: records the README's terminal again. */
import { recordTerminal } from "../../tools/record-terminal.ts";
import { runProgram } from "../support/processes/run-program.ts";

await runProgram({
  call: "npm run measure -- record",
  summary: "Records the terminal of the README",
  options: {},
  examples: ["npm run measure -- record"],
  run: async () => {
    await recordTerminal();
    return 0;
  },
});
