import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { layouts } from "../../src/snowflake/presets.ts";
import { decomposeId, ticksToMsDown } from "../../src/snowflake/layout.ts";
import { scale } from "../support/worlds/scale.ts";
import { runInProcess } from "./in-process.ts";

let folder: string;
let environment: Readonly<Record<string, string>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "snowlane-backfill-"));
  environment = { SNOWLANE_STORE: `sqlite:${join(folder, "ids.db")}` };
  expect(await runInProcess(["next"], environment)).toMatchObject({ code: 0 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const always = ["--known-since", "always", "--reason", "orders"];

/** Back-fills a text as a file. */
async function run(name: string, text: string, ...options: readonly string[]) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return await runInProcess(["backfill", path, ...always, ...options], environment);
}

/** How many worker IDs have a record. */
async function recordCount(): Promise<number> {
  const { stdout } = await runInProcess(["workers"], environment);
  return stdout.split("\n").filter((line) => line.includes("released")).length;
}

function timeOfId(id: string): string {
  return new Date(ticksToMsDown(layouts.twitter, decomposeId(layouts.twitter, BigInt(id)).ticks)).toISOString();
}

describe("snowlane backfill writes the rows with their IDs, and nothing else of them changes", () => {
  test("of CSV: a byte order mark, CR LF, quotes, commas and line ends within them, bytes that are not UTF-8, empty lines at the end", async () => {
    const rows = [
      '\u00EF\u00BB\u00BF"nr","a ""b"", c",at\r\n',
      '1,"two\r\nlines",2020-01-01T00:00:00.001Z\r\n',
      '2,"a ""quote"", \u00FF",2020-01-01 02:00:00.002+02\n',
      "3,,2020-01-01T00:00:00.003456789Z\r\n",
      "\r\n",
    ];
    const path = join(folder, "bytes.csv");
    writeFileSync(path, rows.join(""), "latin1");
    const out = join(folder, "bytes-out.csv");
    const args = ["backfill", path, ...always, "--time", "at", "--out", out];
    expect(await runInProcess(args, environment)).toMatchObject({ code: 0 });
    const text = readFileSync(out, "latin1");
    const ids = [...text.matchAll(/,(\d{18,})\r?\n/g)].map(([, id]) => id!);
    expect(text.replaceAll(/,(?:\d{18,}|id)(?=\r?\n)/g, "")).toBe(rows.join(""));
    expect(ids.map(timeOfId)).toEqual(["001Z", "002Z", "003Z"].map((end) => `2020-01-01T00:00:00.${end}`));
  });

  test("of JSONL: the ID as a text, times as texts or as numbers of more digits than a JavaScript number has", async () => {
    const rows = '{"at":1577836800123456789,"in":{"at":5}}\n{ "at" : "1577836800124000000" }';
    const { code, stdout } = await run("rows.jsonl", rows, "--time", "at", "--unit", "ns", "--id-column", "ID");
    expect(code).toBe(0);
    const ids = stdout.split("\n").map((line) => (JSON.parse(line) as { ID: string }).ID);
    expect(ids.map(timeOfId)).toEqual(["2020-01-01T00:00:00.123Z", "2020-01-01T00:00:00.124Z"]);
    expect(stdout.replaceAll(/,"ID":"\d+"/g, "")).toBe(rows);
  });

  test("of lines, each of which is a time", async () => {
    const { stdout } = await run("times.txt", "1577836800\n1577836801\n", "--unit", "s");
    expect(stdout).toMatch(/^1577836800\t\d+\n1577836801\t\d+\n$/);
  });

  test("in a text form", async () => {
    const { stdout } = await run("form.txt", "1577836800\n", "--unit", "s", "--form", "base62");
    expect(stdout).toMatch(/^1577836800\t[0-9A-Za-z]{11}\n$/);
  });
});

describe("local times", () => {
  test("are read in their zone; the hour that comes twice as the second, as PostgreSQL does", async () => {
    const times = "2020-10-25 01:59:59\n2020-10-25 02:30:00\n2020-10-25 03:00:00\n";
    const { stdout } = await run("local.txt", times, "--time-zone", "Europe/Berlin");
    const ids = stdout
      .trim()
      .split("\n")
      .map((line) => line.split("\t")[1]!);
    expect(ids.map((id) => timeOfId(id).slice(11, 19))).toEqual(["23:59:59", "01:30:00", "02:00:00"]);
  });

  test("that do not come in spring are read as if the clock had not been changed yet", async () => {
    const { stdout } = await run("spring.txt", "2020-03-29 02:30:00\n", "--time-zone", "Europe/Berlin");
    expect(timeOfId(stdout.trim().split("\t")[1]!)).toBe("2020-03-29T01:30:00.000Z");
  });
});

describe("a row that gets no ID is named, and nothing is claimed", () => {
  test.each([
    ["a time before the epoch", "2009-01-01T00:00:00Z", "is before the epoch of the layout"],
    ["a time in the future", "2100-01-01T00:00:00Z", "is after the end of the layout"],
    ["a time after now", new Date(Date.now() + 3_600_000).toISOString(), "is not before"],
    ["a number without a unit", "1577836800", "give its unit with --unit"],
    ["a time without an offset", "2020-01-01 00:00:00", "has no offset from UTC: give --time-zone"],
    ["a day that does not exist", "2021-02-29T00:00:00Z", "has no such date"],
    ["24:00", "2020-01-01T24:00:00Z", "an hour above 23"],
    ["a leap second", "2016-12-31T23:59:60Z", "leap seconds"],
    ["ten digits of a second", "2020-01-01T00:00:00.0123456789Z", "more than 9 digits"],
    ["no time", "", "is empty"],
    ["another text", "yesterday", "is not a time such as"],
  ])("%s", async (_, time, problem) => {
    const before = await recordCount();
    const { code, stderr, stdout } = await run("bad.csv", `at,x\n${time},1\n`, "--time", "at");
    expect(code).toBe(1);
    expect(stderr).toContain("line 2");
    expect(stderr).toContain(problem);
    expect(stdout).toBe("");
    expect(await recordCount()).toBe(before);
  });

  test.each([
    ["a row with too few columns", "at,x\n2020-01-01T00:00:00Z\n", "has 1 columns, and the first line 2"],
    ["a file that ends within quotes", 'at,x\n2020-01-01T00:00:00Z,"a', "ends within quotes"],
    ["an empty line between rows", "at,x\n\n2020-01-01T00:00:00Z,1\n", "line 2 is empty"],
    ["a column that is missing", "x,y\n1,2\n", 'has no column "at"; it has "x", "y"'],
    ["a column for the ID that is there", "at,id\n2020-01-01T00:00:00Z,1\n", 'has a column "id" already'],
    ["an empty file", "", "The input is empty"],
    ["a file without rows", "at,x\n", "has no rows with a time"],
  ])("%s", async (_, text, problem) => {
    const before = await recordCount();
    const { code, stderr } = await run("bad2.csv", text, "--time", "at");
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain(problem);
    expect(await recordCount()).toBe(before);
  });

  test("a JSON line that ends in its middle, one that is not an object, and one without the field", async () => {
    const rows = '{"at":"2020-01-01T00:00:00Z"}\n[]\n{"x":1}\n{"at":"2020-01-01T00:0';
    const { stderr } = await run("bad.jsonl", rows, "--time", "at");
    expect(stderr).toContain("line 2 is not a JSON object");
    expect(stderr).toContain('line 3 has no field "at"');
    expect(stderr).toContain("line 4 is not JSON");
  });

  test("and with --bad it is set aside as it was, the others get IDs, and the exit code is 1", async () => {
    const bad = join(folder, "set-aside.csv");
    const rows = "at\n2020-01-01T00:00:00Z\nnever\n2020-01-01T00:00:01Z\n";
    const { code, stdout } = await run("some.csv", rows, "--time", "at", "--bad", bad);
    expect(code).toBe(1);
    expect(stdout.trim().split("\n").length).toBe(3);
    expect(readFileSync(bad, "utf8")).toBe("never\n");
  });
});

test("rows that are not sorted are refused with the two lines; a row that is a little older lags", async () => {
  const far = "2020-01-01T03:00:00Z\n2020-01-01T00:00:00Z\n";
  const { code, stderr } = await run("far.txt", far);
  expect(code).toBe(1);
  expect(stderr).toContain("Line 2 is 3 h 0 min older than line 1: sort the input by time.");
  const near = "2020-01-01T00:00:00.900Z\n2020-01-01T00:00:00.100Z\n";
  const outcome = await run("near.txt", near);
  expect(outcome.stderr).toContain("2 rows have IDs, at most 800 ms later than their times.");
});

test("more rows in one millisecond than the lag has room for are refused, with the lanes that are needed", async () => {
  const rows = "1577836800000\n".repeat(20_000 * scale);
  const { stderr } = await run("dense.txt", rows, "--unit", "ms", "--lag-max", "1ms");
  expect(stderr).toContain("Too many rows have nearly the same time");
  expect(stderr).toMatch(scale > 6 ? /longer --lag-max/ : /Give --lanes \d+/);
  const outcome = await run("dense.txt", rows, "--unit", "ms", "--lag-max", "1h");
  const ids = outcome.stdout
    .trim()
    .split("\n")
    .map((line) => line.split("\t")[1]!);
  expect(new Set(ids).size).toBe(20_000 * scale);
});

test("--dry-run says what would be done, and changes nothing", async () => {
  const before = readFileSync(join(folder, "ids.db"));
  const { code, stdout } = await run("dry.txt", "1577836800\n1577836801\n", "--unit", "s", "--dry-run");
  expect(code).toBe(0);
  expect(stdout).toContain("2020-01-01T00:00:00Z to 2020-01-01T00:00:01.001Z");
  expect(stdout).toMatch(/passes left {2,}\d+ more over this interval/);
  expect(readFileSync(join(folder, "ids.db")).equals(before)).toBe(true);
});

test("a second back-fill of one interval shares no ID with the first", async () => {
  const rows = Array.from({ length: 1_000 }, (_, index) => `${1_577_836_800_000 + (index >> 3)}\n`).join("");
  const both = [await run("twice.txt", rows, "--unit", "ms"), await run("twice.txt", rows, "--unit", "ms")];
  const ids = both.flatMap(({ stdout }) =>
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split("\t")[1]),
  );
  expect(new Set(ids).size).toBe(2_000);
});

test("a pipe, which gives its rows once, is refused; and so are outputs that are there already, or are one file", async () => {
  const before = await recordCount();
  const pipe = join(folder, "pipe.txt");
  spawnSync("mkfifo", [pipe]);
  const ofPipe = await runInProcess(["backfill", pipe, ...always], environment);
  expect(ofPipe).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be read twice") });
  const times = "1577836800\nnever\n";
  const one = join(folder, "one.txt");
  const ofOne = await run("times.txt", times, "--unit", "s", "--out", one, "--bad", one);
  expect(ofOne).toMatchObject({ code: 2, stderr: expect.stringContaining("name the same file") });
  writeFileSync(one, "");
  for (const option of ["--out", "--bad"]) {
    const there = await run("times.txt", times, "--unit", "s", option, one);
    expect(there).toMatchObject({ code: 2, stderr: expect.stringContaining(`give another ${option}`) });
  }
  expect(await recordCount()).toBe(before);
});

test("standard input is numbered in one pass within --from and --to", async () => {
  const outcome = await runInProcess(["backfill", "-", ...always, "--input-format", "lines"], environment);
  expect(outcome.stderr).toContain("Standard input is read once: give --from and --to");
});

describe("a run that dies", () => {
  /** Starts the command as a process of its own. */
  function start(args: readonly string[]) {
    return spawn(process.execPath, ["src/cli/main.ts", "backfill", ...args], {
      env: { ...process.env, ...environment },
      stdio: ["pipe", "pipe", "pipe"],
    });
  }

  test("by kill -9 while it numbers leaves no file under the name of --out", async () => {
    const out = join(folder, "killed.txt");
    const interval = ["--from", "2020-01-01", "--to", "2020-02-01", "--input-format", "lines", "--unit", "s"];
    const child = start(["-", ...always, ...interval, "--out", out]);
    child.stdin.write("1577836800\n".repeat(100));
    await vi.waitFor(() => expect(readdirSync(folder).some((name) => name.startsWith("killed.txt.part-"))).toBe(true), {
      timeout: 60_000,
    });
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(existsSync(out)).toBe(false);
  });

  test("because its file can grow no further, as on a full disk, says so, and leaves no file", async () => {
    const times = join(folder, "full.txt");
    writeFileSync(times, "1577836800\n".repeat(200_000));
    const out = join(folder, "full-out.txt");
    const options = [...always, "--unit", "s", "--lag-max", "1h", "--out", out];
    const limited = ["-c", 'ulimit -f 1500 && exec "$0" "$@"', process.execPath, "src/cli/main.ts", "backfill"];
    const child = spawn("bash", [...limited, times, ...options], { env: { ...process.env, ...environment } });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(1);
    expect(said).toContain("cannot be written");
    expect(readdirSync(folder).filter((name) => name.startsWith("full-out"))).toEqual([]);
  });
});
