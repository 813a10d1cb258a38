/** The programs of docs/languages.md, against a server. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rubyCall } from "../support/fetch/ruby.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

const timeout = 900_000;
const folder = mkdtempSync(join(tmpdir(), "snowlane-languages-"));
let server: SnowlaneProcess;

beforeAll(async () => {
  server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "ids.db")}`] });
}, 600_000);
afterAll(async () => {
  await server.stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** How each language compiles a program; the result calls it. */
const languages: Readonly<Record<string, (program: string) => Promise<(url: string) => Promise<string>>>> = {
  ruby: async (program) => {
    const [env = "", ...call] = await rubyCall();
    writeFileSync(join(folder, "ids.rb"), program);
    return (url) => runCommand(env, [...call, join(folder, "ids.rb"), url]);
  },
};

test.each(Object.keys(languages))(
  "%s gets a list of IDs, and the reason of an error",
  { timeout },
  async (language) => {
    const programs = blocksOf("docs/languages.md", language);
    expect(programs).toHaveLength(1);
    const call = await languages[language]!(programs[0]!);
    const lines = (await call(server.url)).trim().split("\n");
    expect(lines[3]).toBe("COUNT_OUT_OF_RANGE");
    const ids = lines.slice(0, 3).map(BigInt);
    expect(ids.every((id, index) => id > 2n ** 60n && (index === 0 || id > ids[index - 1]!))).toBe(true);
  },
);
