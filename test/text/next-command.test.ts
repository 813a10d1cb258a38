import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { layouts } from "../../src/snowflake/presets.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { runSnowlane } from "./run-snowlane.ts";

const namespace = "next-command";
const codec = createTextCodec({ layout: layouts.twitter, namespace });
const folder = mkdtempSync(join(tmpdir(), "snowlane-next-"));
const storeFlags = ["--store", `sqlite:${join(folder, "store.db")}`, "--namespace", namespace];
let server: SnowlaneProcess;

beforeAll(async () => {
  server = await startSnowlane({ args: storeFlags });
});
afterAll(async () => {
  await server.stop("SIGTERM");
  rmSync(folder, { recursive: true });
});

const formats = [
  { flags: ["--form", "base58"], format: { form: "base58" } },
  { flags: ["--form", "uuid"], format: { form: "uuid" } },
  { flags: ["--form", "base32", "--check-symbol"], format: { form: "base32", checkSymbol: true } },
  { flags: ["--form", "typed", "--type-prefix", "order"], format: { form: "typed", typePrefix: "order" } },
  {
    flags: ["--form", "serial", "--prefix", "PAY", "--offset", "+08:00"],
    format: { form: "serial", serialPrefix: "PAY", utcOffsetMinutes: 480 },
  },
] as const;

describe.each([
  ["in this process", (): readonly string[] => storeFlags],
  ["by a server", (): readonly string[] => ["--server", server.url]],
])("%s", (_, where) => {
  test.each(formats)("next $flags prints texts beside their IDs in a table", async ({ flags, format }) => {
    const table = await runSnowlane(["next", "-n", "3", "--format", "csv", ...flags, ...where()]);
    expect(table).toMatchObject({ exitCode: 0, stderr: "" });
    const [head, ...rows] = table.stdout.trim().split("\n");
    expect(head).toBe("id,create_time,datacenter_id,worker_id,sequence,text");
    expect(rows).toHaveLength(3);
    for (const row of rows) {
      const cells = row.split(",");
      expect(codec.writer(format)(BigInt(cells[0]!))).toBe(cells.at(-1));
    }
  });

  test("next --form prints texts alone as lines", async () => {
    const { exitCode, stdout } = await runSnowlane(["next", "-n", "3", "--form", "hex", ...where()]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^(0x[0-9a-f]{16}\n){3}$/);
  });
});

test("what next --form prints, parse reads", async () => {
  const made = await runSnowlane(["next", "-n", "1000", "--form", "uuid", ...storeFlags]);
  const read = await runSnowlane(["parse", "--namespace", namespace], made.stdout);
  expect(read).toMatchObject({ exitCode: 0, stderr: "" });
  const ids = read.stdout
    .trim()
    .split("\n")
    .map((line) => BigInt(line.split("\t")[1]!));
  expect(ids.map(codec.writer({ form: "uuid" })).join("\n")).toBe(made.stdout.trim());
});

test("options without their form, and a form for bytes, are refused together", async () => {
  const { exitCode, stderr } = await runSnowlane(["next", "--prefix", "PAY", "--check-symbol", ...storeFlags]);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/--prefix.*--form serial[\s\S]*--check-symbol.*--form base32/);
  const typed = await runSnowlane(["next", "--form", "typed", ...storeFlags]);
  expect(typed).toMatchObject({ exitCode: 2, stdout: "" });
  expect(typed.stderr).toContain("--type-prefix order");
  const bytes = await runSnowlane(["next", "--form", "hex", "--format", "binary", ...storeFlags]);
  expect(bytes.exitCode).toBe(2);
});

describe("NEWCOMER 2 and 3: next gives its worker ID back, whatever ends it", () => {
  const store = `sqlite:${join(folder, "ends.db")}`;
  const states = expect.toSatisfy(
    (all: readonly string[]) => all.length > 0 && all.every((state) => state === "released"),
  ) as unknown;
  const program = `exec "${process.execPath}" src/cli/main.ts`;

  /** Runs a command of the shell; returns how it ended, and the states of all worker IDs that the store knows. */
  async function statesAfter(command: string, signal?: "SIGINT" | "SIGTERM"): Promise<object> {
    const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    if (signal === undefined) child.stdout.resume();
    else child.stdout.once("data", () => child.kill(signal)).on("data", () => undefined);
    const [exitCode] = (await once(child, "close")) as [number | null];
    const list = await runSnowlane(["workers", "--json", "--store", store]);
    const { workers } = JSON.parse(list.stdout) as { readonly workers: readonly { readonly state: string }[] };
    const states = workers.map(({ state }) => state);
    return { exitCode, stderr, states };
  }

  test("a reader that stops early ends it with 0", async () => {
    const command = `(${program} next -n 1000000 --store ${store}; echo "exit $?" >&2) | head -n 1`;
    const found = await statesAfter(command.replace("exec ", ""));
    expect(found).toEqual({ exitCode: 0, stderr: "exit 0\n", states });
  });

  test("a disk that is full ends it with 1 and a sentence", async () => {
    const found = await statesAfter(`${program} next -n 1000000 --store ${store} > /dev/full`);
    const stderr = expect.stringMatching(/^snowlane: The output cannot be written: .*\n$/) as string;
    expect(found).toEqual({ exitCode: 1, stderr, states });
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s ends it with %i", async (signal, exitCode) => {
    const found = await statesAfter(`${program} next -n 1000000000 --store ${store}`, signal);
    expect(found).toEqual({ exitCode, stderr: "", states });
  });
});
