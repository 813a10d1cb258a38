/**
 * Makes the import of the library fail under Bun, Deno or a Node that is too old, with a message that names the version
 * to install. It is the first module that runs (tools/bundle-parts.mjs), because the others need features that an older
 * Node lacks.
 */
import { runtimeProblem } from "../node-version.ts";

const problem = runtimeProblem(process.versions);
if (problem !== undefined) throw new TypeError(problem);
