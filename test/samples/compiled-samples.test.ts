import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { sampleLanguages } from "../../web/src/layout-samples.ts";
import { findTool } from "../support/fetch/tools.ts";
import { runCommand } from "../support/processes/run-command.ts";
import {
  checkHistories,
  checkLives,
  checkSample,
  type PrepareSample,
  shownLayouts,
} from "../support/web/layout-sample.ts";

/**
 * The programs of Learn whose compilers are too large for `npm test`: C# by Debian's mono, and Rust by the rustc on
 * PATH. The others are run by test/web/layout-samples.test.ts.
 */

const languages = {
  csharp: async (folder, driver) => {
    const { path: compiler, env } = await findTool("mcs");
    const root = dirname(dirname(dirname(dirname(dirname(compiler)))));
    const mono = join(root, "usr/bin/mono-sgen");
    const more = { ...env, MONO_PATH: dirname(compiler), MONO_CFG_DIR: join(root, "etc") };
    const program = join(folder, "program.exe");
    const references = ["-r:System.Core.dll", `-lib:${dirname(compiler)}`];
    const files = [join(folder, "SnowflakeId.cs"), join(folder, driver)];
    await runCommand(mono, [compiler, ...references, `-out:${program}`, ...files], { env: more });
    return (args, input = "") => runCommand(mono, [program, ...args], { env: more, input });
  },
  rust: async (folder, driver) => {
    const program = join(folder, "program");
    await runCommand("rustc", ["--edition", "2021", "-D", "warnings", "-o", program, join(folder, driver)]);
    return (args, input = "") => runCommand(program, args, { input });
  },
} as const satisfies Readonly<Record<string, PrepareSample>>;

describe.each(Object.keys(languages) as readonly (keyof typeof languages)[])("%s", (language) => {
  const prepare = languages[language];

  test.each(shownLayouts)("makes and reads IDs of the layout $name", async (layout) => {
    await checkSample(language, layout, prepare);
  });

  test("begins in the tick after its start, waits where one is full, and refuses while the clock is behind", async () => {
    await checkHistories(language, prepare);
  });

  test("repeats no ID over restarts and threads, and prints nothing when it is imported", async () => {
    await checkLives(language, prepare);
  });
});

test("every program of Learn is run here or in the suite web", () => {
  const here = Object.keys(languages);
  const web = ["javascript", "python", "java", "go", "ruby", "php"];
  expect([...web, ...here].toSorted()).toEqual([...sampleLanguages].toSorted());
});
