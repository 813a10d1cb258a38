import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { releaseProblems } from "../../tools/release/release-problems.ts";

/** What keeps a release of docs/release.md from being made, in a small repository that has what is asked. */
const root = mkdtempSync(join(tmpdir(), "snowlane-release-"));
const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" });
const problems = (isRehearsal = false): readonly string[] => releaseProblems({ root, version: "1.2.0", isRehearsal });
const write = (path: string, text: string): void => writeFileSync(join(root, path), text);
function commit(): void {
  git("add", "--all");
  git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "-m", "A change");
}

beforeAll(() => {
  git("init", "--quiet");
  execFileSync("cp", ["-r", "proto", "buf.yaml", root]);
  symlinkSync(resolve("node_modules"), join(root, "node_modules"));
  write(".gitignore", "node_modules\n");
  write("package.json", '{ "version": "1.2.0" }\n');
});
beforeEach(() => {
  write("CHANGELOG.md", "# Changelog\n\n## 1.2.0\n\n- A line.\n\n## 1.1.0\n\n- Another.\n");
  commit();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("a clean commit whose changes are written down is released", () => {
  expect(problems()).toEqual([]);
  git("tag", "--force", "v1.2.0");
  expect(problems()).toEqual([]);
  git("tag", "--delete", "v1.2.0");
});

test("changes that no commit has are refused, with their names", () => {
  write("new.txt", "");
  const problem = "The checkout has 1 changes that no commit has (new.txt): commit or stash them.";
  expect(problems()).toEqual([problem]);
  const { status, stderr } = spawnSync(process.execPath, [resolve("tools/release.ts"), "--dry-run"], { cwd: root });
  expect([status, stderr.toString()]).toEqual([
    1,
    `${problem}
`,
  ]);
  commit();
});

test("a part alone is for a rehearsal: a release has every part", () => {
  const { status, stderr } = spawnSync(process.execPath, [resolve("tools/release.ts"), "npm"], { cwd: root });
  expect(status).toBe(1);
  expect(stderr.toString()).toContain("A release has every part: leave out npm, or add --dry-run.\n");
});

test("a version without a line in the changelog is refused, and only a rehearsal takes what is unreleased", () => {
  write("CHANGELOG.md", "# Changelog\n\n## 1.2.0\n\n## 1.1.0\n\n- Another.\n");
  commit();
  expect(problems()).toEqual([expect.stringMatching(/^The section "## 1\.2\.0" of CHANGELOG\.md is empty: /)]);
  write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- A line.\n");
  commit();
  expect(problems()).toEqual([expect.stringMatching(/^CHANGELOG\.md has no section "## 1\.2\.0": /)]);
  expect(problems(true)).toEqual([]);
});

test("a version that is another commit already is refused", () => {
  git("tag", "--force", "v1.2.0");
  commit();
  expect(problems()).toEqual([expect.stringMatching(/^The tag v1\.2\.0 is another commit: raise the version/)]);
  git("tag", "--delete", "v1.2.0");
});

test("protos that break what was released are refused", () => {
  const path = "proto/snowlane/v1/id_service.proto";
  const text = readFileSync(path, "utf8");
  write(path, text.replace(/^ {2}rpc NextId\(.*$/m, ""));
  commit();
  expect(problems()).toEqual([expect.stringMatching(/^The protos break what was released.*NextId/)]);
  write(path, text);
  appendFileSync(join(root, path), "\n// A comment breaks nothing.\n");
  commit();
  expect(problems()).toEqual([]);
});
