import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { runInProcess } from "./in-process.ts";

/** `snowlane sequences` on a database of this test. */
function sequencesOf(folder = temporaryFolder()) {
  const store = `sqlite:${join(folder, "s.db")}`;
  return (...words: readonly string[]) => runInProcess(["sequences", ...words, "--store", store]);
}

test("a sequence is made, counted, listed and changed without a server, and no value is lost between commands", async () => {
  const run = sequencesOf();
  expect((await run("create", "orders", "--start", "1000", "--template", "O-{value}")).code).toBe(0);
  expect((await run("next", "orders", "-n", "3")).stdout).toBe("1000\n1001\n1002\n");
  expect((await run("next", "orders", "--text")).stdout).toBe("O-1003\n");
  const listed = await run();
  expect(listed.stdout).toMatch(/^NAME +NEXT +LEFT +PERIOD +STATE\norders +1004 +\d+ +- +open\n$/);
  expect(JSON.parse((await run("get", "orders", "--json")).stdout)).toMatchObject({ nextValue: "1004" });
  expect((await run("update", "orders", "--disabled", "true")).code).toBe(0);
  expect(await run("next", "orders")).toMatchObject({ code: 1, stderr: "The sequence orders is disabled." });
});

test("the time for late values is shown in hours and minutes, as it was given (it was shown in seconds)", async () => {
  const run = sequencesOf();
  const yearly = ["--period", "year", "--template", "{yyyy}-{value}", "--late-max", "720h"];
  expect((await run("create", "bills", ...yearly)).stdout).toMatch(/^late values +until 720 h 0 min after a period$/m);
});

test("a database is stopped, raised and opened again", async () => {
  const run = sequencesOf();
  await run("create", "orders");
  expect((await run("raise", "--all", "--by", "5", "--reason", "early")).code).toBe(1);
  expect((await run("stop", "--reason", "a backup is put back")).stdout).toContain("is stopped");
  const listed = (await run()).stdout;
  expect(listed).toMatch(/^NAME .*\norders +1 .* stopped\nThe database is stopped: .*a backup is put back\./);
  expect(await run("next", "orders")).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("a backup is put back"),
  });
  expect((await run("raise", "--all", "--by", "5", "--reason", "test")).stdout).toBe(
    "1 counter was raised, and sequences that are created later begin 5 values higher.\n",
  );
  expect((await run("open")).stdout).toContain("in 30 seconds");
  expect((await run("open")).stdout).toContain("nothing was changed");
  expect((await run()).stdout).toMatch(/^NAME .*\norders +6 .* open\n$/);
  expect(JSON.parse((await run("get", "orders", "--json")).stdout)).toMatchObject({ nextValue: "6" });
});

test("the runbook goes on to its end on a file that was deleted (it ended at the raise, which was said to have raised nothing)", async () => {
  const folder = temporaryFolder();
  const run = sequencesOf(folder);
  await run("create", "orders");
  expect((await run("next", "orders", "-n", "3")).code).toBe(0);
  rmSync(join(folder, "s.db.sequences"));
  // The new file is stopped from the beginning.
  const refusal = { code: 4, stderr: expect.stringContaining("another one was there") };
  expect(await run("create", "orders")).toMatchObject(refusal);
  expect(await run("raise", "--all", "--by", "50", "--reason", "the file is gone")).toMatchObject({
    code: 0,
    stdout: "0 counters were raised, and sequences that are created later begin 50 values higher.\n",
  });
  expect(await run("open")).toMatchObject({ code: 0 });
  const file = new DatabaseSync(join(folder, "s.db.sequences"));
  file.exec("UPDATE snowlane_sequence_place SET open_ms = 0");
  file.close();
  expect((await run("create", "orders")).code).toBe(0);
  expect((await run("next", "orders")).stdout).toBe("51\n");
});

test("a sequence with a period whose first counter is lost is raised and opened again (it never could be)", async () => {
  const folder = temporaryFolder();
  const run = sequencesOf(folder);
  await run("create", "orders", "--step-max", "100");
  await run("create", "yearly", "--period", "year", "--step-max", "100");
  for (const name of ["orders", "yearly"]) expect((await run("next", name)).stdout).toBe("1\n");
  const file = new DatabaseSync(join(folder, "s.db.sequences"), { timeout: 20_000 });
  file.exec("DELETE FROM snowlane_sequence_counter WHERE period_key = ''");
  await run("stop", "--reason", "rows are gone");
  expect((await run("raise", "--all", "--by", "1000", "--reason", "a test")).code).toBe(0);
  expect(await run("open")).toMatchObject({ code: 1, stderr: expect.stringContaining("no counter: orders, yearly.") });
  for (const name of ["orders", "yearly"]) {
    const raised = await run("raise", name, "--to", "5000", "--reason", "its counter is gone");
    expect(raised).toMatchObject({ code: 0, stdout: "1 counter was raised.\n" });
  }
  expect((await run("open")).stdout).toContain("in 30 seconds");
  file.exec("UPDATE snowlane_sequence_place SET open_ms = 0");
  file.close();
  for (const name of ["orders", "yearly"]) expect((await run("next", name)).stdout).toBe("5000\n");
  expect((await run("raise", "yearly", "--by", "10", "--reason", "a test")).stdout).toBe("1 counter was raised.\n");
  expect((await run("next", "yearly")).stdout).toBe("5011\n");
});

test("a raise makes no counter in a database that a creation has not reached, so that a later one reaches it (none did)", async () => {
  const folder = temporaryFolder();
  const urls = ["a", "b"].map((name) => `sqlite:${join(folder, name)}`).join(" ");
  const run = (...words: readonly string[]) => runInProcess(["sequences", ...words, "--sequence-stores", urls]);
  const create = ["create", "orders", "--step-max", "100"];
  expect((await run(...create)).code).toBe(0);
  const file = new DatabaseSync(join(folder, "b.sequences"), { timeout: 20_000 });
  file.exec("DELETE FROM snowlane_sequence; DELETE FROM snowlane_sequence_counter");
  expect((await run("raise", "orders", "--to", "5000", "--reason", "a test")).stdout).toBe("1 counter was raised.\n");
  expect((await run(...create)).code).toBe(0);
  expect(file.prepare("SELECT used_count FROM snowlane_sequence_counter").all()).toEqual([{ used_count: 0 }]);
  file.close();
});

test("several files share a sequence, one more joins them, and what does not fit together is refused", async () => {
  const folder = temporaryFolder();
  const fileOf = (name: string): string => `sqlite:${join(folder, name)}`;
  const run = (urls: readonly string[], ...words: readonly string[]) =>
    runInProcess(["sequences", ...words, "--sequence-stores", urls.join(" ")]);
  const steps = ["--step-min", "10", "--step-max", "10"];
  const [a, b, c] = [fileOf("a"), fileOf("b"), fileOf("c")];
  expect(await run([a, b], "create", "orders", "--sequence-stripes", "3", ...steps)).toMatchObject({
    code: 0,
    stderr: "",
  });
  const values = (await run([b, a], "next", "orders", "-n", "400")).stdout.trim().split("\n").map(Number);
  expect(new Set(values).size).toBe(400);
  expect(new Set(values.map((value) => (value - 1) % 3))).toEqual(new Set([0, 1]));
  const strict = await run([a, b], "create", "invoices", "--strict");
  expect(strict).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("A strict sequence needs a single database"),
  });
  expect(await run([a], "create", "other")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("1 of 2 databases"),
  });
  expect(await run([a, b, c], "create", "other")).toMatchObject({ stderr: expect.stringContaining("add-database") });
  expect((await run([a, b], "add-database", c)).stdout).toMatch(/^sqlite:.*c has stripe 2 of 3, with 1 sequence\. /);
  const more = (await run([a, b, c], "next", "orders", "-n", "400")).stdout.trim().split("\n").map(Number);
  expect(new Set([...values, ...more]).size).toBe(800);
  expect(more.some((value) => (value - 1) % 3 === 2)).toBe(true);
  const { nextValue } = JSON.parse((await run([a, b, c], "get", "orders", "--json")).stdout) as { nextValue: string };
  expect([...values, ...more]).not.toContain(Number(nextValue));
  expect((await run([a, b, c], "update", "orders", "--next", "50000")).code).toBe(0);
  expect(Number((await run([a, b, c], "next", "orders")).stdout)).toBeGreaterThanOrEqual(50_000);

  for (const part of ["", ".locks"])
    cpSync(join(folder, `c.sequences${part}`), join(folder, `copy.sequences${part}`), { recursive: true });
  const both = await run([a, c, fileOf("copy")], "get", "orders");
  expect(both.stderr).toContain("databases 2 and 3 claim one stripe: one is a copy of the other");
  expect((await run([a, b, c], "add-database", fileOf("d"))).stderr).toContain("made with 3 stripes");
  expect((await run([a, b, c], "get", "orders", "--sequence-stripes", "4")).stderr).toContain("not 4");
  expect((await run([a, b, c], "add-database")).stderr).toContain("Give the URL of one database");
});

test("of several files one that is stopped, or opened a moment ago, is passed: the others give values", async () => {
  const folder = temporaryFolder();
  const urls = ["a", "b"].map((name) => `sqlite:${join(folder, name)}`);
  const run = (named: readonly string[], ...words: readonly string[]) =>
    runInProcess(["sequences", ...words, "--sequence-stores", named.join(" ")]);
  const next = async (): Promise<readonly number[]> => {
    const { code, stdout, stderr } = await run(urls, "next", "orders", "-n", "100");
    const values = stdout.trim().split("\n").map(Number);
    expect([code, values.length], stderr).toEqual([0, 100]);
    return values;
  };
  const residuesOf = (values: readonly number[]) => new Set(values.map((value) => value % 2)).size;
  await run(urls, "create", "orders", "--step-min", "10", "--step-max", "10");
  const before = await next();
  expect((await run(urls.slice(1), "stop", "--reason", "a test")).stdout).toContain("is stopped");
  const stopped = await next();
  // Each stop asks for a raise: values came twice where a stop for a loss was only opened.
  const unraised = await run(urls.slice(1), "open");
  expect(unraised).toMatchObject({ code: 6, stderr: expect.stringContaining("Raise first") });
  await run(urls.slice(1), "raise", "--all", "--by", "0", "--reason", "nothing was lost");
  expect((await run(urls.slice(1), "open")).stdout).toContain("in 30 seconds");
  const opened = await next();
  expect([before, stopped, opened].map(residuesOf)).toEqual([2, 1, 1]);
  expect(new Set([...before, ...stopped, ...opened]).size).toBe(300);
});

test("a command that only looks makes no database, and wrong words are refused with what to do", async () => {
  const folder = temporaryFolder();
  const run = sequencesOf(folder);
  expect((await run("get", "orders")).code).toBe(4);
  expect(existsSync(join(folder, "s.db.sequences"))).toBe(false);
  expect(await run("create")).toMatchObject({ code: 2, stderr: "Give the name of a sequence." });
  expect((await run("create", "Orders")).code).toBe(2);
  expect((await run("create", "a", "--max", "0")).code).toBe(2);
  expect((await run("raise", "a", "--reason", "x")).stderr).toContain("Give --to or --by");
  const remote = await runInProcess(["sequences", "--store", "redis://127.0.0.1/"]);
  expect(remote).toMatchObject({ code: 2, stderr: expect.stringContaining("--sequence-stores") });
});
