import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { composeId, createLayout, type Layout, msToTicksDown } from "../../src/snowflake/layout.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { type TextFormat, textForms } from "../../src/text/text-form.ts";
import { type CallLanguage, callLanguages, callSample } from "../../web/src/call-samples.ts";
import { handSample } from "../../web/src/hand-samples.ts";
import { findTool } from "../support/fetch/tools.ts";
import { principalsFile, tokenOf } from "../support/processes/principals-file.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { runServer } from "../support/processes/running-server.ts";

/** The code beside Generate does what its controls say, run by each language as it is copied. */

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-code-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

type Run = (code: string, env: Readonly<Record<string, string>>) => Promise<string>;

/** Writes the code into a file of this name, and runs it. */
const inFile =
  (name: string, command: string, ...args: readonly string[]): Run =>
  async (code, env) => {
    const file = join(folderOf(), name);
    writeFileSync(file, code);
    return runCommand(command, [...args, file], { env });
  };

const runners: Readonly<Record<CallLanguage, Run>> = {
  curl: (code, env) => runCommand("bash", ["-c", code], { env }),
  javascript: inFile("generate.mjs", process.execPath),
  python: inFile("generate.py", "python3"),
  go: inFile("generate.go", "go", "run"),
  java: inFile("Generate.java", "java", "-Xshare:auto", "-XX:TieredStopAtLevel=1"),
};

/** The IDs, or the texts, that a program printed: lines, or the whole answer. */
function printed(output: string): readonly string[] {
  if (!output.startsWith("{")) return output.trimEnd().split("\n");
  const { id, text, ids, texts } = JSON.parse(output);
  return (texts ?? ids ?? [text === "" || text === undefined ? id : text]) as readonly string[];
}

const formats: readonly TextFormat[] = [{ form: "decimal" }, { form: "base32", checkSymbol: true }];

describe.each(callLanguages)("%s", (language) => {
  test.each([
    [1, formats[0]!, false],
    [3, formats[1]!, true],
  ])("%i IDs come in the form, and with the token, that are wanted", async (count, format, hasToken) => {
    const { path: principals } = principalsFile([{ name: "ids", permissions: ["ids"] }]);
    const { url } = await runServer(hasToken ? { principals } : {});
    const code = callSample(language, { base: `${url}/`, count, format, hasToken });
    const texts = printed(await runners[language](code, hasToken ? { SNOWLANE_TOKEN: tokenOf("ids") } : {}));
    const codec = createTextCodec({ layout: layouts.twitter, namespace: "default" });
    const ids = texts.map((text) => codec.read(text, { form: format.form, nowMs: Date.now() }).id!);
    expect(ids).toHaveLength(count);
    expect(ids.map(codec.writer(format))).toEqual(texts);
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
  });
});

test.each(textForms)("the form %s has its name in the call, with its options", async (form) => {
  const { url } = await runServer();
  const options = { serial: { serialPrefix: "AB", utcOffsetMinutes: 180 }, typed: { typePrefix: "order" } };
  const format: TextFormat = { form, ...(form === "serial" || form === "typed" ? options[form] : {}) };
  const [text = ""] = printed(
    await runners.curl(callSample("curl", { base: `${url}/`, count: 1, format, hasToken: false }), {}),
  );
  const codec = createTextCodec({ layout: layouts.twitter, namespace: "default" });
  const { id } = codec.read(text, { form, nowMs: Date.now(), utcOffsetMinutes: 180 });
  expect(codec.writer(format)(id!)).toBe(text);
});

test("an address with a quote ends no text of the code", () => {
  const base = "http://127.0.0.1/it's/";
  for (const language of callLanguages)
    expect(callSample(language, { base, count: 1, format: { form: "decimal" }, hasToken: false })).toContain(
      "http://127.0.0.1/it%27s/snowlane.v1",
    );
});

const shown: readonly Layout[] = [
  layouts.twitter,
  layouts.sonyflake,
  createLayout({
    name: "custom",
    epochMs: -1_000,
    tickNs: 1_000,
    fields: [
      { kind: "worker", bits: 3 },
      { kind: "timestamp", bits: 59 },
    ],
  }),
];

/** What prints the ID of the expression, and runs the whole. */
const handRunners = {
  javascript: (code: string) => inFile("id.mjs", process.execPath)(`${code}\nconsole.log(String(id));`, {}),
  python: (code: string) => inFile("id.py", "python3")(`${code}\nprint(id)`, {}),
  java: (code: string) =>
    inFile(
      "Id.java",
      "java",
      "-Xshare:auto",
      "-XX:TieredStopAtLevel=1",
    )(`class Id {\n  public static void main(String[] none) {\n${code}\n    System.out.println(id);\n  }\n}`, {}),
  go: (code: string) =>
    inFile("id.go", "go", "run")(`package main\n\nimport "fmt"\n\nfunc main() {\n${code}\n\tfmt.Println(id)\n}\n`, {}),
  ruby: async (code: string) => {
    const { path, env } = await findTool("ruby");
    return inFile("id.rb", path, "--disable-gems")(`${code}\nputs id`, { ...env });
  },
  php: async (code: string) => {
    const { path, env } = await findTool("php");
    return inFile("id.php", path, "-n")(`<?php\n${code}\necho $id, "\\n";`, { ...env });
  },
} as const;

test.each(Object.keys(handRunners) as readonly (keyof typeof handRunners)[])(
  "the expression in %s gives the ID that is made by hand, in every kind of layout",
  async (language) => {
    for (const layout of shown) {
      const timeMs = Date.UTC(2026, 0, 31, 12, 0, 0, 120);
      const parts = { datacenterId: layout.datacenter.max && 3, workerId: 5, sequence: layout.sequence.max && 42 };
      const id = composeId(layout, { ticks: msToTicksDown(layout, timeMs), ...parts });
      const output = await handRunners[language](handSample(language, layout, { timeMs, ...parts }));
      expect([layout.name, output]).toEqual([layout.name, `${id}\n`]);
    }
  },
);
