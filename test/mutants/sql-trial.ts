/** Tries slips in the statements that sequences send to their database: which tests notice them. */
import { readFileSync } from "node:fs";
import { sized } from "../support/worlds/scale.ts";
import { sqlAnswers } from "./answers.ts";
import { isNoticed } from "./is-noticed.ts";
import { sqlFiles, sqlStages, type TestStage } from "./mutated-files.ts";
import { mutantsOf, type SourceMutant } from "./source-mutants.ts";

const laneCount = 2;

/** All slips in statements of sequences. */
export const sqlMutants: readonly SourceMutant[] = sqlFiles
  .flatMap((file) => mutantsOf(file, readFileSync(file, "utf8")))
  .filter(({ name }) => / \| SQL /.test(name));

/** Whether a slip is in what servers send with every take and look, and not in what operators change. */
export function isOfTakes({ name }: SourceMutant): boolean {
  return !/ \| (?:raise|move|period|sequence)Statements \| /.test(name);
}

/**
 * Tries some slips, after the statements as they are, which no test may find wrong.
 *
 * @param shown - The ends of the names of those that `npm test` tries, on a file alone.
 * @returns The slips that no test notices, with their lines.
 */
export async function survivorsOf(mutants: readonly SourceMutant[], shown: readonly string[]): Promise<string[]> {
  const few = mutants.filter(({ name }) => shown.some((rule) => name.endsWith(rule)));
  const left = sized(few, mutants).filter(({ name }) => sqlAnswers[name] === undefined);
  for (const file of new Set(left.map((mutant) => mutant.file))) {
    const isWrong = await isNoticed({ file, text: readFileSync(file, "utf8") }, stagesOf(file));
    if (isWrong) throw new Error(`The tests fail without a slip in ${file}.`);
  }
  const survivors: string[] = [];
  const lane = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      if (!(await isNoticed(mutant, stagesOf(mutant.file)))) survivors.push(`line ${mutant.line}: ${mutant.name}`);
    }
  };
  await Promise.all(Array.from({ length: laneCount }, lane));
  return survivors;
}

function stagesOf(file: string): readonly TestStage[] {
  return sized(sqlStages(file).slice(0, 1), sqlStages(file));
}
