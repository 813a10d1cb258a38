import { join } from "node:path";
import { describe, test } from "vitest";
import { findTool } from "../support/fetch/tools.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { checkSample, type PrepareSample, shownLayouts } from "../support/web/layout-sample.ts";

/** The programs that Learn shows, each run by its own language against the shared vectors. */

const languages = {
  javascript: async (folder, file) => (args) => runCommand(process.execPath, [join(folder, file), ...args]),
  python: async (folder, file) => (args) => runCommand("python3", [join(folder, file), ...args]),
  java: async (folder, file) => {
    await runCommand("javac", ["-d", folder, join(folder, file)]);
    return (args) =>
      runCommand("java", ["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", folder, "SnowflakeId", ...args]);
  },
  go: async (folder, file) => {
    const program = join(folder, "program");
    await runCommand("go", ["build", "-o", program, join(folder, file)], { env: { GO111MODULE: "off" } });
    return (args) => runCommand(program, args);
  },
  ruby: async (folder, file) => {
    const { path, env } = await findTool("ruby");
    return (args) => runCommand(path, ["--disable-gems", join(folder, file), ...args], { env });
  },
  php: async (folder, file) => {
    const { path, env } = await findTool("php");
    return (args) => runCommand(path, ["-n", join(folder, file), ...args], { env });
  },
} as const satisfies Readonly<Record<string, PrepareSample>>;

describe.each(Object.keys(languages) as readonly (keyof typeof languages)[])("%s", (language) => {
  test.each(shownLayouts)("makes and reads IDs of the layout $name", async (layout) => {
    await checkSample(language, layout, languages[language]);
  });
});
