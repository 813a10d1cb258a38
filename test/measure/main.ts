/**
 * Starts a program of this folder: `npm run measure -- soak --for 30m`. `npm run measure -- --help` lists them with
 * their minutes. The name of a benchmark is taken, too: `npm run measure -- attacks`.
 */
import { runProgram } from "../support/processes/run-program.ts";
import { measuringPrograms } from "./programs.ts";

const [, , name = ""] = process.argv;
if (measuringPrograms.some((program) => program.name === name)) {
  // The program finds its own arguments where every program does.
  process.argv.splice(2, 1);
  await import(`./${name}.ts`);
} else {
  const { benchmarks } = await import("../bench/benchmarks.ts");
  if (benchmarks.some((benchmark) => benchmark.name === name)) await import("./bench.ts");
  await runProgram({
    call: "npm run measure --",
    summary: "Starts a program that measures",
    options: {},
    words: {
      placeholder: "NAME [ARGUMENTS...]",
      doc: "One of the programs below, which are listed here with their minutes on two cores, or a benchmark of npm run bench -- --list. Behind the name, --help prints the program's own options.",
      known: [...measuringPrograms, ...benchmarks].map((each) => each.name),
    },
    examples: measuringPrograms.map(
      (each) => `npm run measure -- ${each.name.padEnd(14)} # ${`${each.minutes}`.padStart(3)} min: ${each.about}`,
    ),
    run: () => {
      process.stderr.write("Name a program: npm run measure -- --help lists them.\n");
      return Promise.resolve(2);
    },
  });
}
