/** Runs the programs of Learn in C# and Rust: `npm run test:samples`. */
import { runProject } from "./run-project.ts";

await runProject(
  "samples",
  "Compiles and runs the programs of the page in C# and Rust, whose compilers npm test does without",
);
