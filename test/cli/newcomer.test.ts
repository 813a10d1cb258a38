/** What a first user meets, each by the number of the report that named it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";
import { runInProcess } from "./in-process.ts";

test.each([
  [
    "13: sqlite:// is refused with the right spelling",
    ["serve", "--dry-run", "--store", "sqlite://ids.db"],
    "Give sqlite:PATH",
  ],
  [
    "18: a reversed interval names the times that were typed",
    ["range", "--from", "2026-11-22", "--to", "2026-11-21"],
    "from 2026-11-22T00:00:00.000Z to 2026-11-21T",
  ],
  ["21: a misspelt layout has a guess", ["range", "--last", "1h", "--layout", "twiter"], "Did you mean twitter?"],
  ["21: a misspelt dialect has a guess", ["sql", "--dialect", "postgres"], "Did you mean postgresql?"],
  ["21: -v has a guess", ["-v"], "Did you mean --version?"],
  [
    "21: an @ in a password is to be written as %40",
    ["workers", "--store", "postgres://a:p@ss@h/db"],
    "Write @ in a password as %40",
  ],
])("NEWCOMER %s", async (_law, words, sentence) => {
  const { code, stdout, stderr } = await runInProcess(words);
  expect([code, stdout]).toEqual([words[0] === "range" && words[1] === "--from" ? 1 : 2, ""]);
  expect(stderr).toContain(sentence);
  expect(stderr).not.toContain("p@ss");
});

test("NEWCOMER 13: no file is made under the root folder", () => {
  expect(existsSync("/ids.db")).toBe(false);
});

test("NEWCOMER 20: the overview leaves two spaces between a command and its text, and most of serve's flags to --help-all", async () => {
  const { stdout } = await runInProcess(["--help"]);
  const listed = stdout.split("\n").filter((line) => /^ {2}[a-z]/.test(line));
  expect(listed.length).toBeGreaterThan(25);
  for (const line of listed) expect(line).toMatch(/^ {2}[a-z-]+(?: [a-z-]+)? {2,}[a-z]/);
  expect((await runInProcess(["serve", "--help"])).stdout.split("\n").length).toBeLessThan(70);
});

test("NEWCOMER 19: a stream that is called as plain JSON names the call to use in its place", async () => {
  const { url } = await runServer({});
  const post = async (method: string) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/snowlane.v1.${method}`, { method: "POST", headers, body: '{"count":3}' });
    return { status: response.status, text: await response.text() };
  };
  const stream = await post("IdService/BatchNextIds");
  expect(stream).toMatchObject({
    status: 415,
    text: expect.stringMatching(/^BatchNextIds answers with a stream\..*call NextIds/),
  });
  const values = await post("SequenceService/BatchNextValues");
  expect(values).toMatchObject({ status: 415, text: expect.stringContaining("call ReserveValues") });
  const list = await post("IdService/NextIds");
  const { ids } = JSON.parse(list.text) as { ids: readonly string[] };
  expect([list.status, ids.length, ids.every((id) => /^"?\d{19}"?$/.test(id))]).toEqual([200, 3, true]);
});

test("NEWCOMER 23: sequences create prints words, and parse says of a UUID whether it holds an ID", async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const made = await runInProcess(["sequences", "create", "orders", "--store", store]);
  expect([made.code, made.stdout]).toEqual([0, expect.not.stringMatching(/ALLOCATION|PERIOD|Count|valueMax/)]);
  expect(made.stdout).toMatch(/^name {11}orders\nnext value {5}1\nvalues left {4}9223372036854775807\n/);
  expect(made.stdout).toContain("allocation     segments of 100 to 1000000 values\n");
  const strict = ["--strict", "--period", "month", "--time-zone", "Asia/Tokyo"];
  const other = await runInProcess(["sequences", "create", "bills", ...strict, "--store", store]);
  expect(other.stdout).toContain("period         month of Asia/Tokyo\n");
  expect(other.stdout).toContain("allocation     strict: one write for each value\n");
  const uuid = await runInProcess(["parse", "0190b6b4-7c00-7000-8000-000000000000"]);
  expect(uuid.stdout).toMatch(/^holds an ID {5}no, not one of this layout and namespace$/m);
});

test("NEWCOMER 23: lengths of time in a status have at most three digits behind the point", async () => {
  const { url } = await runServer({});
  const { stdout } = await runInProcess(["status", "--json", "--server", url]);
  expect(stdout).not.toMatch(/\.\d{4,}/);
});
