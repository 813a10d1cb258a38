import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { linkPackedPages, linkPage } from "../../tools/release/repository-links.ts";
import { releaseProblems } from "../../tools/release/release-problems.ts";
import { placeholder, repositoryAddress } from "../../tools/repository-address.ts";

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
  for (const page of pages) {
    mkdirSync(dirname(join(root, page)), { recursive: true });
    write(page, readFileSync(page, "utf8"));
  }
});
/** The pages that packages have. The changelog is another one in each test. */
const readmes = [
  "README.md",
  ...["go", "php", "python", "rust", "typescript"].map((name) => `clients/${name}/README.md`),
];
const pages = [...readmes, ...globSync("docs/*.md")];
const repository = { type: "git", url: "git+https://github.com/example/ids.git" };
const ofPlaceholder = { type: "git", url: `git+${placeholder}.git` };
const { files } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly files: readonly string[] };
const nameRepository = (named: object | string | undefined): void =>
  write("package.json", JSON.stringify({ version: "1.2.0", repository: named, files }));
beforeEach(() => {
  nameRepository(repository);
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

test("a part whose tools are not here is refused before anything is built (Maven was missed after minutes)", () => {
  const programs = join(root, ".git/programs");
  mkdirSync(programs);
  const paths = execFileSync("sh", ["-c", "command -v git sh"], { encoding: "utf8" }).trim().split("\n");
  for (const path of [...paths, process.execPath]) symlinkSync(path, join(programs, basename(path)));
  const call = [resolve("tools/release.ts"), "--dry-run", "java", "python"];
  const env = { PATH: programs };
  const { status, stderr } = spawnSync(process.execPath, call, { cwd: root, env, encoding: "utf8", timeout: 30_000 });
  const hint = "install it, or build others: npm run release -- --dry-run npm executable go php.";
  const line = (part: string, program: string): string =>
    `The part ${part} needs ${program}, which is not on PATH: ${hint}\n`;
  expect([status, stderr]).toEqual([1, line("java", "javac") + line("java", "mvn") + line("python", "python3")]);
});

test("a part alone is for a rehearsal: a release has every part", () => {
  const { status, stderr } = spawnSync(process.execPath, [resolve("tools/release.ts"), "npm"], { cwd: root });
  expect(status).toBe(1);
  expect(stderr.toString()).toContain("A release has every part: leave out npm, or add --dry-run.\n");
});

test.each([
  ["a folder that cannot be made (the release grew until the system ended it)", "/proc/x", "ENOENT"],
  ["a file", "CHANGELOG.md", "ENOTDIR"],
])("packages into %s are refused before anything is built", (_name, to, code) => {
  const line = `--to is "${to}". The system makes no folder there (${code}): name one that you may write to.\n`;
  const call = [resolve("tools/release.ts"), "--dry-run", "npm", "--to", to];
  const { status, stderr } = spawnSync(process.execPath, call, { cwd: root, timeout: 30_000, killSignal: "SIGKILL" });
  expect([status, stderr.toString()]).toEqual([2, line]);
});

test("a release that is interrupted leaves nothing behind, though npm sends Ctrl-C twice (the second one ended it amid tidying up)", async () => {
  mkdirSync(join(root, "tools"), { recursive: true });
  // In place of a build: it fills the checkout, and does not end before it is ended.
  const build = `import { writeFileSync } from "node:fs";
for (let i = 0; i < 3_000; i++) writeFileSync("file-" + i, "");
writeFileSync("filled", "");
setTimeout(() => {}, 20_000);
`;
  write("tools/bootstrap.mjs", build);
  commit();
  const temporary = join(root, ".git/temporary");
  mkdirSync(temporary);
  const to = join(root, ".git/release");
  const call = [resolve("tools/release.ts"), "--dry-run", "npm", "--to", to];
  const child = spawn(process.execPath, call, { cwd: root, env: { ...process.env, TMPDIR: temporary } });
  const ended = once(child, "exit");
  await expect.poll(() => globSync(join(temporary, "*/checkout/filled")).length).toBe(1);
  const signals = setInterval(() => child.kill("SIGINT"), 1);
  expect(await ended).toEqual([130, null]);
  clearInterval(signals);
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(to)).toEqual([]);
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

test("the placeholder of a repository is refused, because links of the packages' pages would be dead", () => {
  nameRepository(ofPlaceholder);
  commit();
  expect(problems()).toEqual([expect.stringContaining(`package.json names ${placeholder}`)]);
  expect(problems(true)).toEqual([]);
});

test.each([
  ["that names no repository", undefined],
  ["whose repository npm reads and publint refuses", repository.url],
  ["whose repository has no pages", { type: "git", url: "git+ssh://git@example.com/ids.git" }],
])("a package %s is not a package", (_name, named) => {
  nameRepository(named);
  expect(() => repositoryAddress(root)).toThrow(
    'names no repository: add "repository": { "type": "git", "url": "git+https://github.com/OWNER/NAME.git" }',
  );
});

test("the page of a package leads into the repository at its tag, but to what is beside it, and its code stays as it is", () => {
  const page = [
    "[a](docs/a.md#part) [`b`](b.ts) [c](https://example.com/c) [d](#d) `[e](e.md)`",
    '[![f](f.png)](docs/f.md) [g](../g.md "a title") [i](../i.md#part) ![j](j.png)',
    "```js\n[h](h.md)\n```",
  ].join("\n");
  const isBeside = (path: string): boolean => ["clients/i.md", "clients/go/j.png"].includes(path);
  const place = { address: "https://github.com/example/ids", folder: "clients/go", tag: "v1.2.0", isBeside };
  const at = (kind: string, path: string): string => `https://github.com/example/ids/${kind}/v1.2.0/clients/${path}`;
  expect(linkPage(page, place)).toBe(
    [
      `[a](${at("blob", "go/docs/a.md")}#part) [\`b\`](${at("blob", "go/b.ts")}) [c](https://example.com/c) [d](#d) \`[e](e.md)\``,
      `[![f](${at("raw", "go/f.png")})](${at("blob", "go/docs/f.md")}) [g](${at("blob", "g.md")} "a title") [i](../i.md#part) ![j](j.png)`,
      "```js\n[h](h.md)\n```",
    ].join("\n"),
  );
});

/** Every link of a page. */
const linksOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)\s]+)/g)].map(([, link]) => link!);
const isRelative = (link: string): boolean => !/^(https?:|mailto:|#)/.test(link);

test("every link of a page in a package leads to a file of the package, or of the repository at the tag", () => {
  linkPackedPages(root, "1.2.0");
  for (const page of readmes) expect(linksOf(page).filter(isRelative), page).toEqual([]);
  const [whole, relative] = [new Set<string>(), new Set<string>()];
  for (const page of pages)
    for (const link of linksOf(page))
      if (link.startsWith("https://github.com/example/ids/")) whole.add(link);
      else if (isRelative(link)) relative.add(join(dirname(page), link).split("#")[0]!);
  // Folders are files here, too.
  for (const link of whole) expect(existsSync(link.split("/").slice(7).join("/").split("#")[0]!), link).toBe(true);
  const packed = /^(docs\/[\w-]+\.md|CHANGELOG\.md|README\.md|LICENSE|proto\/.+\.proto)$/;
  expect([...relative].filter((path) => !packed.test(path) || !existsSync(path))).toEqual([]);
  expect([whole.size > 100, relative.size > 30], `${whole.size} and ${relative.size}`).toEqual([true, true]);
});
