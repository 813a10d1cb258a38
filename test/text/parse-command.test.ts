import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { layouts } from "../../src/snowflake/presets.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { foreignTexts } from "./foreign-texts.ts";
import { runSnowlane } from "./run-snowlane.ts";

const codec = createTextCodec({ layout: layouts.twitter, namespace: "default" });
const id = 1_900_000_000_000_000_005n;

test("a pipe gives a line for each line, in any form", async () => {
  const options = { serialPrefix: "PAY", typePrefix: "order" };
  const texts = codec.writeAll(id, options).filter(({ format }) => format.form !== "base62");
  const { exitCode, stdout, stderr } = await runSnowlane(["parse"], texts.map(({ text }) => text).join("\n"));
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const rest = `${id}\t2025-03-13T01:44:34.949Z\t31\t0\t5`;
  expect(stdout).toBe(texts.map(({ format, text }) => `${text}\t${rest}\t${format.form}\n`).join(""));
});

test("bad lines are reported with their numbers, and the good ones still come out", async () => {
  const input = Buffer.concat([
    Buffer.from("1\r\n\nno such\n\u{1f600}\n2GM1FU6deuj\n9223372036854775808\n"),
    Buffer.from([0xff, 0xfe, 0x0a, 0x00, 0x0a]),
    Buffer.from(`${"7".repeat(100_000)}\n  2  \nC232AB00-9414-11EC-B3C8-9F6BDECED846`),
  ]);
  const { exitCode, stdout, stderr } = await runSnowlane(["parse"], input);
  expect(exitCode).toBe(1);
  expect(stdout.split("\n")).toEqual([
    "1\t1\t2010-11-04T01:42:54.657Z\t0\t0\t1\tdecimal",
    "2\t2\t2010-11-04T01:42:54.657Z\t0\t0\t2\tdecimal",
    "C232AB00-9414-11EC-B3C8-9F6BDECED846\t-\t2022-02-22T19:22:22.000Z\t-\t-\t-\tuuid",
    "",
  ]);
  const numbers = stderr
    .trim()
    .split("\n")
    .map((line) => /^snowlane: line (\d+): "/.exec(line)?.[1]);
  expect(numbers).toEqual(["3", "4", "5", "6", "7", "8", "9"]);
  expect(stderr.length).toBeLessThan(2_000);
});

test("a text that a terminal would obey is shown in escapes", async () => {
  const { stderr } = await runSnowlane(["parse"], "\u001b[31m\u009b31m\u202e\u{1f600}\n");
  expect(stderr).toContain(String.raw`"\u001b[31m\u009b31m\u202e\ud83d\ude00"`);
});

test("with --json each line is one object", async () => {
  const { exitCode, stdout } = await runSnowlane(["parse", "--json", "--form", "base62"], "2GM1FU6deuj\n2GM1FU6deuk\n");
  expect(exitCode).toBe(0);
  const ids = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly id: string }).id);
  expect(ids).toEqual([String(id), String(id + 1n)]);
});

test("a million lines come out whole", async () => {
  const count = 1_000_000;
  const input = Array.from({ length: count }, (_, index) => id + BigInt(index) * 4_194_305n).join("\n");
  const { exitCode, stdout, stderr } = await runSnowlane(["parse"], input);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout.match(/\n/g)).toHaveLength(count);
  const last = id + BigInt(count - 1) * 4_194_305n;
  expect(stdout.trimEnd().slice(stdout.trimEnd().lastIndexOf("\n") + 1)).toMatch(new RegExp(`^${last}\t${last}\t`));
});

test("a reader that has had enough ends it quietly", async () => {
  const command = `"${process.execPath}" src/cli/main.ts parse | head -n 1`;
  const child = spawn("sh", ["-c", command], { stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end("1\n".repeat(200_000));
  child.stdout.resume();
  await once(child, "close");
  expect(said).toBe("");
});

test("every published text of another generator is read", async () => {
  const { exitCode, stdout } = await runSnowlane(["parse", "--json"], foreignTexts.map(({ text }) => text).join("\n"));
  expect(exitCode).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  const said = lines.map((line) => JSON.parse(line) as { readonly text: string; readonly foreign: object });
  const iso = (time: string): string => new Date(time).toISOString();
  expect(said).toEqual(
    foreignTexts.map(({ text, kind, createTime, parts }, index) => ({
      text,
      line: index + 1,
      foreign: { kind, createTime: iso(createTime), parts },
    })),
  );
});

test("a text of another generator has its kind for a form, and its parts in a table and as JSON", async () => {
  const ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const line = await runSnowlane(["parse"], `${ulid}\n`);
  expect(line).toMatchObject({ exitCode: 0, stdout: `${ulid}\t-\t2016-07-30T23:54:10.259Z\t-\t-\t-\tulid\n` });
  const table = await runSnowlane(["parse", "prefix_01h2xcejqtf2nbrexx3vqjhp41"]);
  expect(table.stdout).toMatch(/^kind +typeid\ntime +2023-06-14T16:40:03\.066Z\nprefix +prefix\nuuid +0188bac7-/);
  const json = await runSnowlane(["parse", "--json", ulid]);
  expect(JSON.parse(json.stdout)).toEqual({
    text: ulid,
    foreign: { kind: "ulid", createTime: "2016-07-30T23:54:10.259Z", parts: { random: "d6764c61efb99302bd5b" } },
  });
});

test("with a type prefix, typed IDs of that prefix are read and no other text", async () => {
  const input = "order_5QoSRAifXhW\nuser_5QoSRAifXhW\n1900000000000000005\n";
  const { exitCode, stdout, stderr } = await runSnowlane(["parse", "--type-prefix", "order"], input);
  expect(exitCode).toBe(1);
  expect(stdout).toBe(`order_5QoSRAifXhW\t${id}\t2025-03-13T01:44:34.949Z\t31\t0\t5\ttyped\n`);
  expect(stderr).toMatch(/line 2: .*position 0: a type prefix[\s\S]*line 3: /);
  const other = await runSnowlane(["parse", "--form", "hex", "--type-prefix", "order", "0x1a5e27eef13e0005"]);
  expect(other).toMatchObject({ exitCode: 2, stdout: "" });
  expect(other.stderr).toContain("--form typed");
});

test("an offset west of UTC is not a flag, and wrong options are reported with their hint", async () => {
  const west = await runSnowlane(["parse", "--json", "--offset", "-08:00", "2025031217443494909920005"]);
  expect(JSON.parse(west.stdout)).toMatchObject({ id: String(id), texts: { serial: "2025031217443494909920005" } });
  const wrong = await runSnowlane(["parse", "--offset", "+18:01", "--form", "roman", "1"]);
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toContain("+18:00");
  expect(wrong.stderr).toContain("base58");
});

describe("NEWCOMER 10 and FIELD F11 (c): a text that is in no form is searched", () => {
  const read = "2022-06-28T16:07:40.105Z\t11\t26\t0\tdecimal";

  test.each([
    ["a quoted cell of a CSV, behind a byte order mark", '\ufeff"1541815603606036480",Ann'],
    ["a line of a log", "level=info order=1541815603606036480 took=12ms"],
    ["a JSON text", '{"id":"1541815603606036480"}'],
    ["a literal of JavaScript", "1541815603606036480n"],
    ["a link", "https://x.com/a/status/1541815603606036480?s=20"],
  ])("%s", async (_, text) => {
    const { exitCode, stdout, stderr } = await runSnowlane(["parse"], `${text}\n`);
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `1541815603606036480\t1541815603606036480\t${read}\n`,
      stderr: "",
    });
  });

  test("each ID of a line has its place, in UTF-16 units", async () => {
    const text = "\u{1f600} 1541815603606036480 and 175928847299117063";
    const { stdout } = await runSnowlane(["parse", "--json"], `${text}\n`);
    const lines = stdout.trimEnd().split("\n");
    const places = lines.map((line) => JSON.parse(line) as { readonly text: string; start: number; end: number });
    expect(places.map(({ start, end }) => text.slice(start, end))).toEqual(places.map((place) => place.text));
    expect(places).toMatchObject([
      { text: "1541815603606036480", line: 1 },
      { text: "175928847299117063", line: 1 },
    ]);
  });

  test("with --form or --type-prefix it is refused, as a program wants it", async () => {
    for (const options of [
      ["--form", "decimal"],
      ["--type-prefix", "order"],
    ])
      expect(await runSnowlane(["parse", ...options], '"1541815603606036480"\n')).toMatchObject({
        exitCode: 1,
        stdout: "",
      });
  });

  test("a text that holds no ID says what it is", async () => {
    const { exitCode, stderr } = await runSnowlane(["parse"], "-5\n-6883128403432964096\nhello\n4111 1111\n");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/line 1: "-5": A negative number is not an ID\.\n/);
    expect(stderr).toMatch(/line 2: .*: Bit 63 is set.* No layout here sets it\.\n/);
    expect(stderr).toMatch(/line 3: "hello": No ID was found/);
    expect(stderr).toMatch(/line 4: "4111 1111": No ID was found/);
  });
});

describe("NEWCOMER 9 and FIELD F10 (e): a doubt is a note on standard error, once for each kind", () => {
  test.each([
    ["1.54181560360604E+18", /^snowlane: note: The number looks rounded .* Keep IDs as text\.\n$/],
    ["2126426546045608000", /^snowlane: note: The number looks rounded .*\n$/],
    ["1541815603606036500", /^snowlane: note: The number looks rounded .*\n$/],
    ["1656432460105", /^snowlane: note: This is a Unix time in milliseconds, 2022-06-28T16:07:40\.105Z, .*\n$/],
    ["00000001541815603606036480", /^snowlane: note: The number has leading zeros\.\n$/],
    ["7395765689539710983", /^snowlane: note: Under the layout twitter.*read by the layout clickhouse.*\n$/],
    ["<@175928847299117063>", /^snowlane: note: The text names discord\. .*read by the layout discord.*\n$/],
  ])("%s", async (text, note) => {
    const { exitCode, stderr } = await runSnowlane(["parse", text]);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(note);
  });

  test("PAGE 4: an ID that the text calls Discord's is read by that, with Discord's names for its fields", async () => {
    const { stdout } = await runSnowlane(["parse", "<@175928847299117063>"]);
    expect(stdout).toMatch(/^time +2016-04-30T11:18:25\.796Z\nworker +1\nprocess +0\nincrement +7\n/m);
    const [line = ""] = (await runSnowlane(["parse", "--json"], "<@175928847299117063>\n")).stdout.split("\n");
    expect(JSON.parse(line)).toMatchObject({ layout: "discord", notes: ["other-layout"], workerId: 0 });
  });

  test("PAGE 16: where a layout is given, an ID of the future is read by it, with a doubt", async () => {
    const { stdout, stderr } = await runSnowlane(["parse", "--layout", "twitter", "3189745823456789012"]);
    expect(stdout).toContain("2034-12-10T02:14:01.580Z");
    expect(stderr).toMatch(
      /^snowlane: note: Under the layout twitter, this ID would .* More likely is --layout \w+\.\n$/,
    );
  });

  test("PAGE 15: a layout that has ended says so", async () => {
    const { stderr } = await runSnowlane(["parse", "--layout", "baidu", "1541815603606036480"]);
    expect(stderr).toContain("The layout baidu ended on 2024-11-20T");
  });

  test("a file of rounded numbers gets one line with their count", async () => {
    const { stderr } = await runSnowlane(["parse"], "1541815603606036500\n".repeat(1_234));
    expect(stderr).toMatch(/^snowlane: note: The number looks rounded .* \(1,234 times\)\n$/);
  });

  test("one number of a hundred that looks rounded is chance", async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `15418156036060364${String(index).padStart(2, "0")}`);
    const { stderr } = await runSnowlane(["parse"], ids.join("\n"));
    expect(stderr).toBe("");
  });
});
