import { spawnSync } from "node:child_process";
import { runProgram } from "../test/support/processes/run-program.ts";

/** Runs the tests of a vitest project that `npm test` leaves out, by a command of its own: `npm run test:PROJECT`. */
export async function runProject(project: string, summary: string): Promise<void> {
  const call = `npm run test:${project}`;
  await runProgram({
    call: `${call} --`,
    summary,
    options: {},
    examples: [call],
    run: async () => {
      const args = ["node_modules/vitest/vitest.mjs", "run", "--project", project, "--reporter=verbose"];
      return spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
    },
  });
}
