import { expect, test } from "vitest";
import { exitCodes } from "../../src/cli/exit-code.ts";
import { type Command, flagsOf } from "../../src/cli/command.ts";
import { loadCommands } from "../../src/cli/commands.ts";
import { flagName } from "../../src/config/setting.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";
import { runInProcess } from "./in-process.ts";

const oddValues = [
  "",
  " ",
  "0",
  "-1",
  "00",
  "1e9",
  "0x10",
  "NaN",
  "Infinity",
  "99999999999999999999",
  "1.5",
  "true",
  "null",

  "2026-02-30",
  "9999-12-31",
  "0000-00-00",
  "+99:99",
  "--",
  "-",
  "--json",
  "=",
  "a=b",
  "../..",
  "\u0000",
  "\u{1f600}",
  "é",
  "'",
  '"',
  "$(x)",
  "[::1]",
  ":",
  "http://",
  "sqlite:",
  "postgres://u:secret@/",
  "redis://[",
  "constructor",
  "__proto__",
  "toString",
  "a".repeat(5_000),
  "timestamp:63",
  "timestamp:0,worker:99",
  "0-",
  "7-3",
  "1h1h",
];
const mistake = "--no-such-flag-at-all";

// The unknown flag keeps every command from starting, whatever the others say.
test("odd arguments of every command are refused with code 2, a line a mistake, and no password", async () => {
  const seed = Number(process.env["SEED"] ?? 22);
  const random = new SeededRandom(seed);
  const commands = await loadCommands();
  for (let round = 0; round < 1_000; round++) {
    const command = commands[random.below(commands.length)]!;
    const flags = flagsOf(command).filter(({ name }) => !["help", "helpAll", "config"].includes(name));
    const chosen = Array.from({ length: 1 + random.below(3) }, () => flags[random.below(flags.length)]).filter(
      (flag) => flag !== undefined,
    );
    const words = chosen.flatMap((flag) => {
      const value = oddValues[random.below(oddValues.length)] ?? "";
      return random.below(2) === 0 ? [`--${flagName(flag)}`, value] : [`--${flagName(flag)}=${value}`];
    });
    const args = [...command.name.split(" "), mistake, ...words];
    const outcome = await runInProcess(args, { HOME: "/nonexistent", XDG_STATE_HOME: "/nonexistent" });
    const where = `SEED=${seed} ${JSON.stringify(args)}\n${outcome.stderr}`;
    expect([outcome.fault, outcome.code, outcome.stdout], where).toEqual([undefined, 2, ""]);
    const lines = outcome.stderr.split("\n");
    expect(
      lines.filter((line) => line.startsWith(mistake)),
      where,
    ).toHaveLength(1);
    expect(
      lines.some((line) => line.includes("secret") || /^\s*at /.test(line)),
      where,
    ).toBe(false);
  }
});

/** Flags that reach for another machine, or that never end. The test above gives them odd values. */
const outward = new Set(["store", "from", "to", "server", "sequenceStores", "watch", "help", "helpAll", "config"]);

// Nothing keeps these from running: what can be done with the arguments is done, on stores in a folder of the test.
test("odd arguments of every command end in a documented code, a line a mistake, and no stack", async () => {
  const seed = Number(process.env["SEED"] ?? 22);
  const random = new SeededRandom(seed);
  const commands = await loadCommands();
  const home = temporaryFolder();
  const codes = new Set<number>(Object.values(exitCodes).filter((code) => code !== exitCodes.fault));
  const environment = { HOME: home, XDG_STATE_HOME: home };
  // A server that starts would not end.
  const callOf = ({ name }: Command): readonly string[] => [
    ...name.split(" "),
    ...(name === "serve" ? ["--dry-run"] : []),
  ];
  /** How many lines each command draws that lacks all that it requires. */
  const required = new Map<Command, number>();
  for (const command of commands) {
    const { code, stderr } = await runInProcess(callOf(command), environment);
    required.set(command, code === exitCodes.usage ? stderr.split("\n").length : 0);
  }
  const seen = new Set<number>();
  for (let round = 0; round < 220; round++) {
    const command = commands[round % commands.length]!;
    const flags = flagsOf(command).filter(({ name }) => !outward.has(name));
    const words: string[] = [];
    const wordCount = flags.length === 0 ? 0 : random.below(4);
    for (let index = 0; index < wordCount; index++) {
      const flag = flags[random.below(flags.length)]!;
      words.push(
        `--${flagName(flag)}${flag.placeholder === "" ? "" : `=${oddValues[random.below(oddValues.length)]}`}`,
      );
    }
    if (command.positional !== undefined && random.below(2) === 0)
      words.push(oddValues[random.below(oddValues.length)]!);
    const args = [...callOf(command), ...words];
    const outcome = await runInProcess(args, environment);
    const where = `SEED=${seed} ${JSON.stringify(args)}\n${outcome.stderr}`;
    expect([outcome.fault, codes.has(outcome.code)], where).toEqual([undefined, true]);
    const lines = outcome.stderr.split("\n").filter((line) => line !== "");
    expect(lines.length, where).toBeLessThanOrEqual(Math.max(1, words.length + required.get(command)!));
    expect(
      lines.filter((line) => /^\s*at /.test(line) || line.includes("secret")),
      where,
    ).toEqual([]);
    if (outcome.code !== exitCodes.done && command.name !== "doctor") expect(lines, where).not.toEqual([]);
    seen.add(outcome.code);
  }
  expect([...seen]).toEqual(expect.arrayContaining([exitCodes.done, exitCodes.refused, exitCodes.usage]));
});
