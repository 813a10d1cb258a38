import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
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

test("bad lines are told with their numbers, and the good ones still come out", async () => {
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
    foreignTexts.map(({ text, kind, createTime, parts }) => ({
      text,
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

test("an offset west of UTC is no flag, and wrong options are told with their hint", async () => {
  const west = await runSnowlane(["parse", "--json", "--offset", "-08:00", "2025031217443494909920005"]);
  expect(JSON.parse(west.stdout)).toMatchObject({ id: String(id), texts: { serial: "2025031217443494909920005" } });
  const wrong = await runSnowlane(["parse", "--offset", "+18:01", "--form", "roman", "1"]);
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toContain("+18:00");
  expect(wrong.stderr).toContain("base58");
});
