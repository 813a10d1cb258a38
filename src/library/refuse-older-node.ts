/**
 * Ends the import of the library under a Node that is too old, Bun or Deno, in a sentence that names the one to
 * install. It is the first module that runs (tools/bundle-parts.mjs), because the others need what an older Node does
 * not have.
 */
import { runtimeProblem } from "../node-version.ts";

const problem = runtimeProblem(process.versions);
if (problem !== undefined) throw new TypeError(problem);
