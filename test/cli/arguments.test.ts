import { expect, test } from "vitest";
import { flagName } from "../../src/config/setting.ts";
import { serverSettings } from "../../src/config/server-settings.ts";
import { serverSettingGroups } from "../../src/config/setting-groups.ts";
import { readCommandLine } from "../../src/cli/commands.ts";
import { runInProcess } from "./in-process.ts";

/** A command line, and the one line that its one mistake draws. */
const mistakes: readonly (readonly [words: string, line: string])[] = [
  ["srve", 'There is no command "srve". Did you mean serve? See snowlane --help.'],
  ["nothing", 'There is no command "nothing". See snowlane --help.'],
  ["store", 'There is no command "store". There is store copy. See snowlane --help.'],
  ["workers relase", 'There is no command "workers relase". Did you mean workers release? See snowlane --help.'],
  ["help srve", 'There is no command "srve". Did you mean serve? See snowlane --help.'],
  ["serve --port 8080", "--port: There is no such flag. Use --listen HOST:PORT."],
  ["serve -p 8080", "-p: There is no such flag. Use --listen HOST:PORT."],
  ["workers --db postgres://db", "--db: There is no such flag. Use --store URL."],
  [
    "serve --lissten 127.0.0.1:0",
    "--lissten: There is no such flag. Did you mean --listen? See snowlane serve --help-all.",
  ],
  ["workers --watc", "--watc: There is no such flag. Did you mean --watch? See snowlane workers --help."],
  ["parse --nothing 123", "--nothing: There is no such flag. See snowlane parse --help."],
  ["range --from yesteray", expect.stringMatching(/^--from is "yesteray"\. Give a date .*$/)],
  ["range --form yesterday", "--form: There is no such flag. Did you mean --from? See snowlane range --help."],
  ["range --lst 24h", "--lst: There is no such flag. Did you mean --last? See snowlane range --help."],
  ["range --last", "--last: It needs a value: SPAN."],
  ["range from 2026-01-01 to 2026-02-01", "from 2026-01-01 to 2026-02-01: This command takes flags only."],
  ["range", "The interval: Give one of --last 24h, --on 2026-11-21, or --from with --to."],
  ["range --on today --last 1h", "The interval: Give one of --last 24h, --on 2026-11-21, or --from with --to."],
  ["range --to now", "--to: Give the start with it, such as --from 2026-11-21."],
  ["range --on 2026-02-30", '--on is "2026-02-30". Give a date such as 2026-11-21, yesterday, today, tomorrow.'],
  [
    "range --last 1h --layout-fields worker",
    '--layout-fields is "worker". Give fields with their bits, such as timestamp:41,worker:10,sequence:12.',
  ],
  ["sql", "--dialect: Give one of postgresql, mysql, sqlite, clickhouse."],
  ["sql --dialect oracle", '--dialect is "oracle". Give one of postgresql, mysql, sqlite, clickhouse.'],
  ["sql --dialect mysql --prefix a;b", expect.stringMatching(/^--prefix is "a;b"\. Give a letter of a-z.*$/)],
  ["next --format xml", '--format is "xml". Give one of lines, csv, binary.'],
  ["next -n 1 -n 2", "-n: Give it once."],
];

test.each(mistakes)("one mistake, one line, code 2: %s", async (words, line) => {
  const { code, stdout, stderr } = await runInProcess(words.split(" "));
  expect([code, stdout, stderr]).toEqual([2, "", line]);
});

test("two mistakes are two lines", async () => {
  const { stderr } = await runInProcess(["range", "--last", "x", "--offset", "y"]);
  expect(stderr.split("\n")).toEqual([expect.stringMatching(/^--last is/), expect.stringMatching(/^--offset is/)]);
});

test("help and version are commands too, and a word that begins several commands has its help", async () => {
  const asFlag = await runInProcess(["store", "copy", "--help"]);
  expect(await runInProcess(["help", "store", "copy"])).toEqual(asFlag);
  expect(asFlag.stdout).toContain("Usage: snowlane store copy");
  expect((await runInProcess(["help", "workers"])).stdout).toContain("Usage: snowlane workers [options]");
  const { stdout: overview } = await runInProcess(["help"]);
  expect(overview).toContain("Usage: snowlane COMMAND");
  // Names and summaries are two columns (two long names ran into their texts).
  const rows = overview.match(/^ {2}[a-z].*$/gm) ?? [];
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => !/^ {2}[a-z]+( [a-z-]+)? {2,}[a-z]/.test(row))).toEqual([]);
  expect((await runInProcess(["store", "--help"])).stdout).toMatch(/^Commands:\n {2}store copy {2,}moves/);
  expect(readCommandLine(["version"])).toEqual({ kind: "version" });
});

test.each(["serve", "doctor", "next"])(
  "the help of %s fits a screen of 60 lines, and says where the rest is",
  async (name) => {
    const { stdout } = await runInProcess([name, "--help"]);
    expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(60);
    expect(stdout).toMatch(new RegExp(`^\\d+ more settings \\(.*\n?.*: snowlane ${name} --help-all$`, "m"));
    const listed = flagsIn(stdout);
    // What an operator needs on the first day.
    const first = ["store", "namespace", "layout", "datacenter-id", "worker-id"];
    const ofServer = ["listen", "auth", "principals", "tls-cert", "tls-key", "log-level", "log-format"];
    expect(listed).toEqual(expect.arrayContaining(name === "next" ? first : [...first, ...ofServer]));
  },
);

test.each(["serve", "doctor"])("--help-all of %s lists every setting once, by subject", async (name) => {
  const { stdout } = await runInProcess([name, "--help-all"]);
  const settings = Object.values(serverSettings).map(flagName);
  const listed = flagsIn(stdout);
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.filter((flag) => !["dry-run", "json", "config", "help", "help-all"].includes(flag)).toSorted()).toEqual(
    settings.toSorted(),
  );
  for (const { title, note = title } of serverSettingGroups) {
    expect(stdout).toContain(`\n${title}:\n`);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(note);
  }
});

function flagsIn(help: string): readonly string[] {
  return [...help.matchAll(/^ {2}(?:-\w, )?--([a-z0-9-]+)/gm)].map(([, flag = ""]) => flag);
}

test("a variable that is near a setting draws a warning, and others of the prefix none", async () => {
  // As Kubernetes writes them for a service of the name, and as our samples read it.
  const others = { SNOWLANE_PORT: "tcp://10.0.0.1:7609", SNOWLANE_SERVICE_HOST: "10.0.0.1", SNOWLANE_URL: "http://a" };
  const settings = { SNOWLANE_LAYOUT: "twitter", SNOWLANE_STORE: "" };
  const range = ["range", "--on", "2026-11-21"];
  expect((await runInProcess(range, { ...others, ...settings })).stderr).toBe("");
  const { code, stderr } = await runInProcess(range, { ...others, SNOWLANE_LAYUOT: "discord" });
  const line = "The variable SNOWLANE_LAYUOT is not a setting, and has no effect. Did you mean SNOWLANE_LAYOUT?";
  expect([code, stderr]).toEqual([0, `snowlane: ${line}\n`]);
});

test("range takes days and spans, and says to programs which interval it took", async () => {
  const day = await runInProcess(["range", "--on", "2026-11-21", "--offset", "+08:00", "--json"]);
  expect(JSON.parse(day.stdout)).toEqual({
    firstId: "2123808585937846272",
    lastId: "2124170973803446271",
    from: "2026-11-20T16:00:00.000Z",
    to: "2026-11-21T16:00:00.000Z",
    layout: "twitter",
  });
  const { from, to } = JSON.parse((await runInProcess(["range", "--last", "24h", "--json"])).stdout);
  expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000);
  const yesterday = JSON.parse((await runInProcess(["range", "--from", "yesterday", "--json"])).stdout);
  expect(yesterday.from).toMatch(/T00:00:00\.000Z$/);
});

test("PAGE 15: layouts marks a layout that has ended, and one that ends within five years", async () => {
  const [head = "", ...rows] = (await runInProcess(["layouts"])).stdout.trimEnd().split("\n");
  expect(head).toContain("years left");
  const marked = rows.filter((row) => row.includes("ENDED")).map((row) => row.split(" ", 1)[0]);
  expect(marked).toEqual(["baidu"]);
  // 2^32 ticks of 10 ms are 497 days.
  const ofYears = (epochMs: number): Promise<{ readonly stdout: string }> => {
    const fields = ["--layout-fields", "timestamp:32,worker:16,sequence:8", "--tick", "10ms"];
    return runInProcess(["layouts", ...fields, "--epoch", new Date(epochMs).toISOString()]);
  };
  const dayMs = 86_400_000;
  expect((await ofYears(Date.now() - dayMs)).stdout).toContain("  ENDS SOON  ");
  expect((await ofYears(Date.now() - 600 * dayMs)).stdout).toContain("  ENDED  ");
});

test("a number with too many digits is said to be above 2^63 - 1", async () => {
  for (const digits of ["9223372036854775808", "18446744073709551616", "99999999999999999999", "1".repeat(60)]) {
    const { code, stderr } = await runInProcess(["parse", digits]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("above 2^63 - 1")]);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  }
});
