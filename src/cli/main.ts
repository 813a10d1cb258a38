#!/usr/bin/env node
import { runtimeProblem } from "../node-version.ts";

// An older Node lacks modules and functions that everything else imports, so that is loaded only after this check.
// There is no top-level await, because the executable cannot have one: Node runs a script in it, not a module.
const problem = runtimeProblem(process.versions);
if (problem === undefined) {
  void import("./run.ts").then(({ run }) => run());
} else {
  process.stderr.write(`snowlane: ${problem}\n`);
  // The exit code of every wrong use: docs/cli.md.
  process.exitCode = 2;
}
