import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openIssueLog } from "../../src/server/issue-log.ts";
import type { IdRun } from "../../src/snowflake/run.ts";
import type { IdSource } from "../../src/worker/id-source.ts";
import { composeId } from "../../src/snowflake/layout.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { runInProcess } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "snowlane-audit-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** 2025-03-13 and a second for each `ticks` of a thousand. */
function idAt(ticks: number, workerId: number, sequence: number): bigint {
  return composeId(layouts.twitter, { ticks: 453_000_000_000 + ticks, datacenterId: 0, workerId, sequence });
}

interface Finding {
  readonly kind: string;
  readonly count: number;
  readonly examples: readonly { readonly text: string; readonly places: readonly string[] }[];
}

/** Audits a text. */
async function auditText(text: string, ...flags: readonly string[]) {
  const path = join(folder, "ids.txt");
  writeFileSync(path, text);
  const { code, stdout, stderr } = await runInProcess(["audit", path, "--json", ...flags]);
  const answer = JSON.parse(stdout === "" ? "{}" : stdout) as { ids: number; findings: readonly Finding[] };
  const places = (finding: Finding) =>
    finding.examples.flatMap((each) => each.places.map((at) => at.split(":").at(-1)));
  const found = answer.findings?.map((finding) => [finding.kind, finding.count, ...places(finding)]);
  return { code, ids: answer.ids, found, stderr };
}

test("IDs that differ and rise are not a finding, and the exit code is 0", async () => {
  const ids = [1, 2, 3].flatMap((ticks) => [0, 1, 5].map((worker) => idAt(ticks, worker, ticks)));
  expect(await auditText(`${ids.join("\n")}\n`)).toMatchObject({ code: 0, ids: 9, found: [] });
});

test("equal IDs are found in one file and over several, each with its places", async () => {
  const [one, two] = [idAt(1, 1, 1), idAt(2, 1, 1)];
  const paths = ["a", "b"].map((name) => join(folder, name));
  writeFileSync(paths[0]!, `${one}\n${two}\n`);
  writeFileSync(paths[1]!, `${one}\n\n${one}\n`);
  const { code, stdout } = await runInProcess(["audit", ...paths]);
  expect(code).toBe(1);
  expect(stdout).toContain("equal (1): The same ID occurs more than once.\n");
  expect(stdout).toContain(`  ${one}  ${paths[0]}:1  ${paths[1]}:1  ${paths[1]}:3\n`);
});

test("IDs of foreign workers, foreign times and more bits than the layout, and order breaks are found", async () => {
  const ids = [idAt(5, 1, 0), idAt(4, 1, 0), idAt(6, 31, 0), idAt(3, 2, 0)].join("\n");
  const flags = ["--workers", "0-3", "--from", "2024-01-01"];
  expect(await auditText(ids, ...flags)).toMatchObject({
    code: 1,
    found: [
      ["foreign-worker", 1, "3"],
      ["order", 1, "2"],
    ],
  });
  expect((await auditText(ids, "--datacenters", "3")).found).toContainEqual(["foreign-worker", 4, "1", "2", "3", "4"]);
  expect((await auditText(ids, "--to", "2024-01-01")).found).toContainEqual(["foreign-time", 4, "1", "2", "3", "4"]);
  const future = composeId(layouts.twitter, { ticks: 2 ** 41 - 1, datacenterId: 0, workerId: 0, sequence: 0 });
  expect((await auditText(String(future))).found).toEqual([["foreign-time", 1, "1"]]);
  expect((await auditText(String(2n ** 62n), "--layout", "mastodon")).found).toEqual([["foreign-time", 1, "1"]]);
  const narrow = ["--layout-fields", "timestamp:39,worker:8,sequence:6", "--epoch", "2020-01-01T00:00:00Z"];
  expect((await auditText(String(2n ** 54n), ...narrow)).found).toEqual([["not-of-layout", 1, "1"]]);
});

test("digits that JavaScript, Excel or a cast to double took are a finding; true IDs beside them are not", async () => {
  const ids = Array.from({ length: 400 }, (_, index) => idAt(index * 37, 3, (index * 257) % 4096));
  const asDouble = ids.map((id) => BigInt(Number(id)));
  const ofJavaScript = ids.map((id) => String(Number(id)));
  const ofExcel = ids.map((id) =>
    Number(id)
      .toPrecision(15)
      .replace(".", "")
      .replace(/e\+18$/, "0000"),
  );
  const lost = async (texts: readonly (string | bigint)[]) =>
    (await auditText(texts.join("\n"))).found.find(([kind]) => kind === "lost-digits")?.[1] ?? 0;
  expect(await lost(ids)).toBe(0);
  for (const texts of [asDouble, ofJavaScript, ofExcel]) expect(await lost(texts)).toBeGreaterThan(250);
  // One ID in a hundred ends with two zeros, and one whose sequence is 0 has 12 bits 0, by themselves.
  expect(await lost(Array.from({ length: 400 }, (_, index) => idAt(index * 37, 3, 0)))).toBe(0);
  expect(await lost([...ids, "1.54181560360604E+18", "1541815603606036480.0"])).toBe(2);
});

test("a column of CSV is named or numbered, of quoted and tab-separated text too, behind a byte order mark", async () => {
  const id = idAt(1, 1, 1);
  const csv = `\uFEFFname,order_id\r\n"a, b",${id}\r\nc,"${id}"\r\n`;
  expect((await auditText(csv, "--column", "order_id")).found).toEqual([["equal", 1, "2", "3"]]);
  expect((await auditText(csv, "--column", "2")).found).toEqual([["equal", 1, "2", "3"]]);
  expect((await auditText(`id\tname\n${id}\tx\n${id}\ty\n`)).found).toEqual([["equal", 1, "2", "3"]]);
  expect(await auditText(csv, "--column", "id")).toMatchObject({
    code: 2,
    stderr: 'The first line has no column "id"; it has "name", "order_id".',
  });
  expect((await auditText(`${id}\n\nabc 7\n`)).found).toEqual([["unreadable", 1, "3"]]);
});

test("issue logs are read by their records, those of several servers together", async () => {
  const write = (name: string, runs: readonly IdRun[]): string => {
    const path = join(folder, name);
    const log = openIssueLog(path);
    const source = log.before({ layout: layouts.twitter, reserve: () => ({ runs }) } as unknown as IdSource);
    void source.reserve({ count: 1 } as never);
    log.close();
    return path;
  };
  const first = write("1.log", [{ firstId: idAt(1, 1, 0), count: 1000, stride: 1n }]);
  const second = write("2.log", [
    { firstId: idAt(2, 2, 0), count: 3, stride: 1n },
    { firstId: idAt(1, 1, 999), count: 2, stride: 1n },
  ]);
  const { code, stdout } = await runInProcess(["audit", first, second, "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    ids: 1005,
    findings: [
      { kind: "equal", count: 1, examples: [{ text: String(idAt(1, 1, 999)), places: [`${first}:1`, `${second}:2`] }] },
    ],
    workers: [
      { workerId: 1, count: 1002 },
      { workerId: 2, count: 3 },
    ],
  });
});

test("a file that is not there is named, with exit code 1", async () => {
  const { code, stderr } = await runInProcess(["audit", join(folder, "none")]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/none cannot be read: ENOENT/);
});
