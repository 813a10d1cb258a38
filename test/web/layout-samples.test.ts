import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findTool } from "../support/fetch/tools.ts";
import { startChromium } from "../support/processes/chromium-browser.ts";
import { runCommand } from "../support/processes/run-command.ts";
import {
  checkHistories,
  checkLives,
  checkSample,
  type PrepareSample,
  shownLayouts,
} from "../support/web/layout-sample.ts";
import { allHistories, idsOf, type SampleRule } from "../support/web/sample-history.ts";

/** The programs that Learn shows, each run by its own language: shared vectors, restarts, threads and bad clocks. */

const languages = {
  javascript:
    async (folder, driver) =>
    (args, input = "") =>
      runCommand(process.execPath, [join(folder, driver), ...args], { input }),
  python:
    async (folder, driver) =>
    (args, input = "") =>
      runCommand("python3", [join(folder, driver), ...args], { input }),
  java: async (folder, driver) => {
    await runCommand("javac", ["-d", folder, join(folder, "SnowflakeId.java"), join(folder, driver)]);
    const flags = ["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", folder, "Drive"];
    return (args, input = "") => runCommand("java", [...flags, ...args], { input });
  },
  go: async (folder, driver) => {
    const program = join(folder, "program");
    const files = [join(folder, "snowflake_id.go"), join(folder, driver)];
    await runCommand("go", ["build", "-o", program, ...files], { env: { GO111MODULE: "off" } });
    return (args, input = "") => runCommand(program, args, { input });
  },
  ruby: async (folder, driver) => {
    const { path, env } = await findTool("ruby");
    return (args, input = "") => runCommand(path, ["--disable-gems", join(folder, driver), ...args], { env, input });
  },
  php: async (folder, driver) => {
    const { path, env } = await findTool("php");
    return (args, input = "") => runCommand(path, ["-n", join(folder, driver), ...args], { env, input });
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

test("the program in JavaScript runs in a browser", async () => {
  const { browser, close } = await startChromium();
  onTestFinished(close);
  const page = await browser.newPage();
  const address = `data:text/javascript,${encodeURIComponent(readFileSync("web/samples/snowflake-id.mjs", "utf8"))}`;
  const ids = (await page.evaluate(`import(${JSON.stringify(address)}).then(({ Generator }) => {
    const ids = new Generator(0n, 1n);
    return [ids.next(), ids.next()].map(String);
  })`)) as readonly string[];
  expect(BigInt(ids[1]!) > BigInt(ids[0]!)).toBe(true);
});

describe("by the rules of the programs", () => {
  const repeats = (history: string, without?: SampleRule): boolean => {
    const ids = idsOf(history, without).filter((text) => /^\d/.test(text));
    return new Set(ids).size < ids.length;
  };

  test("no ID repeats in any of 9,840 histories of makes, ticks and restarts", () => {
    const histories = allHistories("mtr", 8);
    expect(histories.length).toBe(9_840);
    expect(histories.filter((history) => repeats(history))).toEqual([]);
  });

  test("where a clock may be set back, IDs repeat only after a restart that follows, as the programs say", () => {
    const found = allHistories("mtrb", 8).filter((history) => repeats(history));
    expect(found.length).toBeGreaterThan(1_000);
    expect(found.filter((history) => !/m.*b.*r.*m/.test(history))).toEqual([]);
  });

  test.each([
    ["the first ID is of the tick after the start", "mtr"],
    ["a full tick is waited for", "mtr"],
    ["a late clock is refused", "mtb"],
  ] as const)("each rule is needed: %s", (rule, steps) => {
    expect(allHistories(steps, 8).filter((history) => repeats(history)).length).toBe(0);
    expect(allHistories(steps, 8).filter((history) => repeats(history, rule)).length).toBeGreaterThan(100);
  });
});
