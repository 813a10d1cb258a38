/**
 * `npm run mutants`: makes small slips in the protocol, the generator, the hot methods, sequences and stores, one at a
 * time, and runs the tests on each. A slip that no test notices is printed. answers.ts has those that are right to
 * survive, with the reason. `--piece 3 --pieces 80` runs one piece of eighty, each of which ends within two hours on
 * two processors.
 * Exits with 1 where a survivor has no answer.
 */
import { readFileSync } from "node:fs";
import { integer, text } from "../../src/config/setting-kinds.ts";
import { type SettingValues, withFallback } from "../../src/config/setting.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { answers } from "./answers.ts";
import { mutatedFiles, testStages } from "./mutated-files.ts";
import { isNoticed } from "./is-noticed.ts";
import { mutantsOf, type SourceMutant } from "./source-mutants.ts";

const options = {
  only: text({ name: "only", doc: "Only mutants whose name holds this text, such as src/lease/window.ts." }),
  pieces: withFallback(integer({ name: "pieces", min: 1, max: 1_000, doc: "How many pieces there are." }), 1),
  piece: withFallback(integer({ name: "piece", min: 1, max: 1_000, doc: "The piece to run." }), 1),
  processes: withFallback(integer({ name: "processes", min: 1, max: 64, doc: "How many mutants run at once." }), 2),
};
type Options = SettingValues<typeof options>;

/** Prints a result of the run for people. */
const print = (line: string): void => void process.stdout.write(`${line}\n`);

function chosenMutants({ only, pieces, piece }: Options): readonly SourceMutant[] {
  return mutatedFiles()
    .flatMap((file) => mutantsOf(file, readFileSync(file, "utf8")))
    .filter(({ name }) => only === undefined || name.includes(only))
    .filter((_, index) => index % pieces === piece - 1);
}

async function runAll(chosen: Options): Promise<number> {
  const mutants = chosenMutants(chosen);
  const left = [...mutants];
  let unanswered = 0;
  let survived = 0;
  const lane = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      if (await isNoticed(mutant, testStages(mutant.file))) continue;
      survived += 1;
      const answer = answers[mutant.name];
      if (answer === undefined) unanswered += 1;
      print(`${mutant.file}:${mutant.line} ${answer === undefined ? "SURVIVES" : "answered"}: ${mutant.name}`);
    }
  };
  await Promise.all(Array.from({ length: chosen.processes }, lane));
  print(`${mutants.length} mutants, ${survived} survived, ${unanswered} of them without an answer`);
  return unanswered > 0 ? 1 : 0;
}

await runProgram({
  call: "npm run mutants --",
  summary: "Makes small slips in the sources, and prints those that no test notices",
  options,
  examples: ["npm run mutants -- --only src/lease/window.ts", "npm run mutants -- --piece 1 --pieces 40"],
  run: runAll,
});
