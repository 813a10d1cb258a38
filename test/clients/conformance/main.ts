/**
 * `npm run conformance -- PROGRAM ARG...`: holds a client of any language to docs/internals/client-contract.md. The
 * program speaks the lines of that page. Prints a table, and exits with 1 where a rule is broken or one that is needed
 * is left out.
 */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { text } from "../../../src/config/setting-kinds.ts";
import { refuseProblems } from "../../../src/config/load-settings.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import { cases, conforms, scoreProgram, scoreToText } from "./score.ts";

/** Whether a program can be started by this name. */
function canStart(name: string): boolean {
  const folders = name.includes("/") ? [""] : (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

await runProgram({
  call: "npm run conformance --",
  summary: "Holds a client of any language to the client contract",
  options: {
    only: text({ name: "only", doc: "Only the cases of these names, between commas, such as dark-calls,fresh-first." }),
  },
  words: {
    placeholder: "PROGRAM [ARG...]",
    doc: "How the client's program is started; docs/internals/client-contract.md says what it does.",
    known: "call",
  },
  examples: ["npm run conformance -- node clients/typescript/test/interop-program.ts"],
  run: async ({ only }, call) => {
    const [program] = call;
    if (program === undefined) refuseProblems([{ place: "PROGRAM", hint: "Name the program of a client." }]);
    else if (!canStart(program)) refuseProblems([{ place: program, hint: "There is no such program." }]);
    const names = only?.split(",");
    const unknown = (names ?? []).filter((name) => cases.every((one) => one.name !== name));
    const known = cases.map(({ name }) => name).join(", ");
    if (unknown.length > 0) refuseProblems(unknown.map((place) => ({ place, hint: `There are: ${known}.` })));
    const score = await scoreProgram(
      call,
      cases.filter(({ name }) => names?.includes(name) ?? true),
    );
    process.stdout.write(scoreToText(score));
    return conforms(score) ? 0 : 1;
  },
});
