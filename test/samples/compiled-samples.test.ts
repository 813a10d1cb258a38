import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { composeId, msToTicksDown } from "../../src/snowflake/layout.ts";
import { handSample } from "../../web/src/hand-samples.ts";
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

const programs = {
  csharp: [
    "SnowflakeId.cs",
    (code: string) => `class Id { static void Main() {\n${code}\nSystem.Console.WriteLine(id); } }`,
  ],
  rust: ["snowflake_id.rs", (code: string) => `fn main() {\n${code}\nprintln!("{id}");\n}`],
} as const;

test.each(Object.keys(languages) as readonly (keyof typeof languages)[])(
  "the expression in %s that Generate shows gives the ID that is made by hand",
  async (language) => {
    for (const layout of shownLayouts) {
      const folder = mkdtempSync(join(tmpdir(), "snowlane-expression-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const timeMs = Date.UTC(2026, 0, 31, 12, 0, 0, 120);
      const parts = { datacenterId: layout.datacenter.max && 3, workerId: 5, sequence: layout.sequence.max && 42 };
      const [file, wrap] = programs[language];
      writeFileSync(join(folder, file), wrap(handSample(language, layout, { timeMs, ...parts })));
      const run = await languages[language](folder, file);
      const id = composeId(layout, { ticks: msToTicksDown(layout, timeMs), ...parts });
      expect([layout.name, (await run([])).trim()]).toEqual([layout.name, String(id)]);
    }
  },
);

test("every program of Learn is run here or in the suite web", () => {
  const here = Object.keys(languages);
  const web = ["javascript", "python", "java", "go", "ruby", "php"];
  expect([...web, ...here].toSorted()).toEqual([...sampleLanguages].toSorted());
});
