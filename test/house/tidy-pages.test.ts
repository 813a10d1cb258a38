import { execFileSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

/** Tests that pages show nothing that nobody tried: their code, links, anchors, and the tests that they name. */

const pages = execFileSync("git", ["ls-files", "*.md", "llms.txt"], { encoding: "utf8" })
  .split("\n")
  .filter((path) => path !== "" && !path.startsWith("third_party/"));
const textOf = (path: string): string => readFileSync(path, "utf8");

interface Fence {
  readonly line: number;
  /** The text behind the backticks. */
  readonly info: string;
  readonly lineAbove: string;
}

/** The beginnings of blocks. Those inside a part that is a program's output are not looked at. */
function fencesOf(page: string): readonly Fence[] {
  const lines = page.split("\n");
  let isCode = false;
  let isOutput = false;
  return lines.flatMap((line, index) => {
    if (/^<!-- (begin|end) /.test(line)) isOutput = line.startsWith("<!-- begin ");
    const info = /^\s*```(.*)$/.exec(line)?.[1];
    if (info === undefined) return [];
    isCode = !isCode;
    return isCode && !isOutput ? [{ line: index + 1, info, lineAbove: lines[index - 1] ?? "" }] : [];
  });
}

/** Comments above a block that a test reads; `<!-- FILE -->`, a sample that `npm run generate` fills in, is another. */
const readers: Readonly<Record<string, string>> = {
  import: "test/stores/sequence-import.test.ts",
  privileges: "test/stores/least-privilege.test.ts",
  successor: "test/stores/sequence-stripes.test.ts",
  sql: "test/text/sql-snippets.ts",
};

/** Why a block shows what nobody tried; undefined where it is marked. */
function problemOf(path: string, { info, lineAbove }: Fence): string | undefined {
  if (/^(sh|ts) run( exits \d+)?$|^text output$|^\w+ not run: \S/.test(info)) return undefined;
  const tester = /^\w+ tested by (\S+)$/.exec(info)?.[1];
  if (tester !== undefined)
    return existsSync(tester) && textOf(tester).includes(path) ? undefined : `${tester} does not read this page`;
  const [, key = "", more] = /^<!-- ([^\s:]+)(:)? ?.*-->$/.exec(lineAbove) ?? [];
  if (more === undefined && key !== "")
    return existsSync(join(dirname(path), key)) ? undefined : `there is no file ${key}`;
  if (readers[key] !== undefined) return undefined;
  return 'mark it "sh run", "ts run", "text output", "LANGUAGE tested by TEST" or "LANGUAGE not run: why"';
}

const problemsOf = (path: string, page: string): readonly string[] =>
  fencesOf(page).flatMap((fence) => {
    const problem = problemOf(path, fence);
    return problem === undefined ? [] : [`${path}:${fence.line}: ${problem}`];
  });

test("each block of code of a page is run, tested, or says why not", () => {
  expect(pages.flatMap((path) => problemsOf(path, textOf(path)))).toEqual([]);
  for (const tester of Object.values(readers)) expect(existsSync(tester)).toBe(true);
});

test.each([
  ["without a mark", "```sh\nls\n```\n", 1],
  ["without a language", "text\n\n```\nls\n```\n", 3],
  ["that is not run for no reason", "```sh not run:\n```\n", 1],
  ["tested by a test that is not there", "```sh tested by test/none.test.ts\n```\n", 1],
  ["tested by a test that does not name the page", "```sh tested by test/house/tidy.test.ts\n```\n", 1],
  ["of a sample that is not there", "<!-- samples/none.ts -->\n```ts\n```\n", 2],
])("a block %s is refused", (_name, page, line) => {
  expect(problemsOf("docs/none.md", page)).toEqual([expect.stringContaining(`docs/none.md:${line}: `)]);
});

/** A page without code: blocks, and what is between backticks. */
function proseOf(page: string): string {
  return page
    .replaceAll(/^\s*```[\s\S]*?^\s*```/gm, "")
    .replaceAll(/`[^`\n]+`/g, (code) => code.replaceAll(/[[\]]/g, ""));
}

/** The anchors that GitHub gives the headings of a page: in lower case, without punctuation, numbered if repeated. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of proseOf(page).matchAll(/^#+ +(.*)$/gm)) {
    const text = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .trim()
      .toLowerCase();
    const anchor = text.replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
    let name = anchor;
    for (let count = 1; anchors.has(name); count++) name = `${anchor}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

/** Links of a page that lead nowhere in this project. A title behind a link to a test is the name of that test. */
function brokenLinks(path: string, page: string): readonly string[] {
  const links = proseOf(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?(?:\s+"([^"]*)")?\)/g);
  return [...links].flatMap(([link, file = "", anchor, title]) => {
    const target = file === "" ? path : join(dirname(path), file);
    const broken = [`${path}: ${link}`];
    if (file !== "" && !existsSync(target)) return broken;
    if (title !== undefined && !(isTest.test(target) && nameOf(title, target))) return broken;
    if (anchor === undefined || !target.endsWith(".md")) return [];
    return anchorsOf(file === "" ? page : textOf(target)).has(anchor) ? [] : broken;
  });
}

const isTest = /(\.test\.ts|-contract\.ts|-faults\.ts|-losses\.ts|_test\.go|Test\.java|test_\w+\.py)$/;

/** Whether a test of this name is in the file. A list of faults may make up its names: fault-page.test.ts asks it. */
function nameOf(title: string, file: string): boolean {
  return file.endsWith("-faults.ts") || textOf(file).includes(title.replaceAll(/\s+/g, " "));
}

test("every link within the project leads to a file, every anchor to a heading, every title to a test", () => {
  expect(pages.length).toBeGreaterThan(30);
  expect(pages.flatMap((path) => brokenLinks(path, textOf(path)))).toEqual([]);
});

test("a link, an anchor or a test that is not there is found", () => {
  const page = "# One\n## `two`, and [three](x.md)!\n## One\n```\n# four\n```\n";
  expect([...anchorsOf(page)]).toEqual(["one", "two-and-three", "one-1"]);
  const links =
    '[a](#one-1) [b](#four) [c](none.md) [d](tls.md#none) [e](x.svg) [f](../test/house/tidy.test.ts "no such test")';
  expect(brokenLinks("docs/none.md", page + links)).toEqual(
    ["(x.md)", "(#four)", "(none.md)", "(tls.md#none)", "(x.svg)", '(../test/house/tidy.test.ts "no such test")'].map(
      (link) => `docs/none.md: ]${link}`,
    ),
  );
});

/** The part of a page below a heading, up to the next heading of its kind. */
function sectionOf(path: string, heading: string): string {
  const [, section = ""] = textOf(path).split(`\n## ${heading}\n`);
  return section.split("\n## ")[0] ?? "";
}

test("each guarantee of the README has one link, to a test or to a page that names one", () => {
  const guarantees = sectionOf("README.md", "Guarantees").split(/^- /m).slice(1);
  const links = guarantees.map((guarantee) => [...guarantee.matchAll(/\]\(([\w./-]+)/g)].map(([, path = ""]) => path));
  expect(links.map((paths) => paths.length)).toEqual([1, 1, 1]);
  const pages = links.flat().filter((path) => !path.startsWith("test/"));
  expect(pages.filter((path) => !/\]\((?:\.\.\/)+test\/\S+ "/.test(textOf(path)))).toEqual([]);
});

test("each promise of docs/evidence.md names a test", () => {
  const promises = textOf("docs/evidence.md")
    .split(/^- \*\*(?=S\d\*\*)/m)
    .slice(1);
  expect(promises.map((promise) => promise.slice(0, 2))).toEqual(["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8"]);
  expect(promises.filter((promise) => !/^ {2}\(\[test\]\(\S+ "/m.test(promise))).toEqual([]);
});

test("each promise of docs/evidence/security.md names a setting, or that it has none, a test and a document", () => {
  const [, , ...promises] = sectionOf("docs/evidence/security.md", "Promises").match(/^\|.*\|$/gm) ?? [];
  expect(promises.length).toBeGreaterThan(10);
  const whole = /^\| [^|]+ \| (?:`[^|]+`|none) \| \[test\]\(\S+ "[^|]+ \| \[[^\]]+\]\([^|]+ \|$/;
  expect(promises.filter((promise) => !whole.test(promise))).toEqual([]);
  const settings = ["docs/configuration.md", "docs/operations.md", "clients/README.md"].map(textOf).join();
  const named = promises.flatMap((promise) => promise.split(" | ")[1]!.match(/(?<=`)[\w-]+(?=`)/g) ?? []);
  expect(named.filter((name) => !new RegExp(`\`${name}[ \`]`).test(settings))).toEqual([]);
});

test("each rule of the client contract names its cases, or a test of each client where there is none", () => {
  const page = "docs/internals/client-contract.md";
  const rules = {
    attempts: "Attempts and failover",
    checks: "What a client checks",
    streams: "Streams",
    buffer: "Rules of a buffer",
  };
  const numbered = Object.entries(rules).flatMap(([kind, heading]) =>
    [...sectionOf(page, heading).matchAll(/^(\d+)\. /gm)].map(([, number]) => `${kind} ${number}`),
  );
  const shown = /^\| (\w+ \d+) \| (`[^|]+`|-) \| (\[test\]\(\S+ ".+"\)|-) \|$/gm;
  const rows = [...sectionOf(page, "Tests that every client has").matchAll(shown)];
  expect(numbered.length).toBeGreaterThan(30);
  expect(rows.map(([, rule]) => rule)).toEqual(numbered);
  expect(rows.filter(([, , cases, test]) => cases === "-" && test === "-")).toEqual([]);
  const named = new Map(
    rows.map(([, rule, cases = ""]) => [rule, [...cases.matchAll(/`([\w-]+)`/g)].map(([, n]) => n)]),
  );
  const table = [...textOf(page).matchAll(/^\| (\w+ \d+) \| `([\w-]+)` \| [A-Z]/gm)];
  for (const rule of numbered)
    expect([rule, named.get(rule)]).toEqual([rule, table.filter(([, of]) => of === rule).map(([, , n]) => n)]);
});

test("docs/frameworks.md keeps a run of each example that has an entity", () => {
  const [, run = ""] =
    /<!-- begin examples[^]*?-->([^]*)<!-- end examples -->/.exec(textOf("docs/frameworks.md")) ?? [];
  // Plain stubs are run by the suite docs.
  const examples = readdirSync("examples").filter((name) => name !== "plain-stubs");
  expect(examples.filter((name) => !run.includes(`\n✓ ${name}: `))).toEqual([]);
});

test("each line that docs/frameworks.md shows for an example is in its program, in this order", () => {
  const blocks =
    /\]\(\.\.\/examples\/([\w-]+)\/([\w/.-]+)\)|^```\w+ tested by test\/examples\/examples\.test\.ts\n([^]*?)^```/gm;
  let program = "";
  let shown = 0;
  for (const [, folder, file, block] of textOf("docs/frameworks.md").matchAll(blocks)) {
    if (folder !== undefined) program = `examples/${folder}/${file}`;
    if (block === undefined || program === "") continue;
    const files = globSync(`${program.split("/").slice(0, 2).join("/")}/**/*.{properties,java,py,ts,mjs,go}`);
    const lines = block.split("\n").filter((line) => line !== "");
    const holds = (text: string): boolean => {
      let from = 0;
      return lines.every((line) => {
        const at = text.indexOf(`\n${line}\n`, from);
        from = at + 1;
        return at >= 0;
      });
    };
    expect([program, lines, files.some((path) => holds(`\n${textOf(path)}`))]).toEqual([program, lines, true]);
    shown += 1;
  }
  expect(shown).toBeGreaterThanOrEqual(9);
});

/** Packages of a registry that have our names: as long as we publish none, they are somebody else's. */
const fromRegistry = /\b(npm (i|install|add)|npx --yes|pip install)( -\S+)* ["']?@?snowlane(?![\w.])/;

test("no file says to take Snowlane from a registry, which has none (the unit named a package that anybody can publish)", () => {
  expect(readFileSync("docs/install.md", "utf8")).toContain("no package is published");
  for (const line of ["npm install --global snowlane", "npm i @snowlane/client", "pip install snowlane-client[numpy]"])
    expect(line).toMatch(fromRegistry);
  for (const line of ["npm install ./snowlane-1.2.3.tgz", "pip install ./snowlane_client-1.2.3-py3-none-any.whl"])
    expect(line).not.toMatch(fromRegistry);
  const files = execFileSync("git", ["grep", "-Il", "snowlane", "--", ":!*.test.ts"], { encoding: "utf8" });
  const found = files
    .trim()
    .split("\n")
    .flatMap((path) =>
      textOf(path)
        .split("\n")
        .filter((line) => fromRegistry.test(line))
        .map((line) => `${path}: ${line}`),
    );
  expect(found).toEqual([]);
});
