import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";

/** The form of the decisions in docs/adr/, and of two indexes: docs/adr/README.md and docs/README.md. */

const tracked = execFileSync("git", ["ls-files"], { encoding: "utf8" }).split("\n");
const textOf = (path: string): string => readFileSync(path, "utf8");
const decisions = tracked.filter((path) => /^docs\/adr\/\d{4}-[a-z0-9-]+\.md$/.test(path));

/** The lines above the first heading of every decision, in this order. */
const head = new RegExp(
  [
    "^# (?<number>\\d{4}): (?<title>[A-Z`a-z][^\\n]*[^.\\n])\\n",
    "- Status: (?<status>[^\\n]+)",
    "- Date: (?<date>[^\\n]+)",
    "- Governs: (?<governs>[^]+?)\\n",
    "## ",
  ].join("\\n"),
);
const headings = ["Context", "Decision", "Consequences", "What would undo it"];
/** A screen: a decision that needs more has an argument, which is a page of its own. */
const lineCountMax = 60;
const status = /^(accepted|(accepted, amended|superseded) by (\[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\)(, | and )?)+)$/;

/** Where people look for the reason of what is there: code, and what programs are generated and bundled by. */
const isCode = (path: string): boolean => /^(src|clients|tools|model)\/.*\.(ts|mjs|go|java|py)$|^buf\./.test(path);

/** Numbers of the decisions that a file names. */
function namedIn(path: string): ReadonlySet<string> {
  return new Set([...textOf(path).matchAll(/\badr\/(\d{4})\b/g)].map(([, number = ""]) => number));
}

/** The files that a decision says it governs. */
function governedBy(page: string): readonly string[] {
  const list = head.exec(page)?.groups?.["governs"] ?? "";
  return [...list.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
}

/** A page cut at its headings of the second level. */
function sectionsOf(page: string): readonly { readonly heading: string; readonly text: string }[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf("\n");
      return { heading: section.slice(0, end), text: section.slice(end).trim() };
    });
}

/** The faults in the form of one decision. */
function faultsOf(path: string, page: string): readonly string[] {
  const found = head.exec(page)?.groups;
  if (found === undefined) return [`${path}: no title, status, date and files above the first heading`];
  const faults: string[] = [];
  if (!basename(path).startsWith(`${found["number"]}-`)) faults.push(`${path}: another number than the file's`);
  if (!status.test(found["status"]!)) faults.push(`${path}: status ${found["status"]}`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(found["date"]!)) faults.push(`${path}: date ${found["date"]}`);
  if (!/^`[^`]+`(,\s+`[^`]+`)*$/.test(found["governs"]!)) faults.push(`${path}: governs ${found["governs"]}`);
  const lineCount = page.trimEnd().split("\n").length;
  if (lineCount > lineCountMax) faults.push(`${path}: ${lineCount} lines; the argument goes to docs/internals`);
  const sections = sectionsOf(page);
  const present = sections.map(({ heading }) => heading);
  if (present.join() !== headings.join()) faults.push(`${path}: headings ${present.join(", ")}`);
  for (const { heading, text } of sections) if (text === "") faults.push(`${path}: nothing under ${heading}`);
  return faults;
}

/** Entries of a list of links, each with the part that it is in. */
function entriesOf(page: string): readonly { readonly part: string; readonly entry: string }[] {
  return sectionsOf(page).flatMap(({ heading, text }) =>
    text
      .split("\n")
      .filter((line) => line.startsWith("- "))
      .map((entry) => ({ part: heading, entry })),
  );
}

test("each decision has a title, a status, a date, the files that it governs and the same four headings", () => {
  expect(decisions.length).toBeGreaterThan(30);
  expect(decisions.flatMap((path) => faultsOf(path, textOf(path)))).toEqual([]);
});

test("a decision without a date, with another heading or with nothing under one is found", () => {
  const path = decisions[0]!;
  const page = textOf(path);
  expect(faultsOf(path, page.replace(/^- Date: .*\n/m, ""))).toHaveLength(1);
  expect(faultsOf(path, page.replace(/^- Date: .*/m, "- Date: soon"))).toHaveLength(1);
  expect(faultsOf(path, page.replace(/^- Status: .*/m, "- Status: liked"))).toHaveLength(1);
  expect(faultsOf(path, page.replace(/^- Governs: .*/m, "- Governs: the generator"))).toHaveLength(1);
  expect(faultsOf(path, page.replace("## Decision", "## Why"))).toHaveLength(1);
  expect(faultsOf(path, page.replace(/^## What would undo it\n[^]*/m, "## What would undo it\n"))).toHaveLength(1);
  expect(faultsOf("docs/adr/9999-other.md", page)).toHaveLength(1);
  expect(faultsOf(path, `${page}${"More.\n".repeat(lineCountMax)}`)).toHaveLength(1);
});

test("a decision names the files that it governs, and each of these names the decision", () => {
  const governed = decisions.flatMap((path) =>
    governedBy(textOf(path)).map((file) => `${file} ${basename(path).slice(0, 4)}`),
  );
  const unnamed = governed.filter((pair) => {
    const [file = "", number = ""] = pair.split(" ");
    return !tracked.includes(file) || !namedIn(file).has(number);
  });
  expect(unnamed, "governed, and does not name the decision").toEqual([]);
  const naming = tracked.filter(isCode).flatMap((file) => [...namedIn(file)].map((number) => `${file} ${number}`));
  expect(naming.length).toBeGreaterThan(40);
  expect(
    naming.filter((pair) => !governed.includes(pair)),
    "names a decision that does not name it",
  ).toEqual([]);
});

test("no two decisions have one number", () => {
  const numbers = decisions.map((path) => basename(path).slice(0, 4));
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
});

test("the index has each decision once, by its title, in one part of the system", () => {
  const index = textOf("docs/adr/README.md");
  const expected = decisions.map((path) => `- [${/^# (.+)$/m.exec(textOf(path))?.[1]}](${basename(path)})`);
  const entries = entriesOf(index);
  expect(entries.map(({ entry }) => entry).toSorted()).toEqual(expected.toSorted());
  // Nothing is above the first part, and each part has its decisions in the order of their numbers.
  expect(index.match(/^- /gm)).toHaveLength(entries.length);
  for (const { heading } of sectionsOf(index)) {
    const ofPart = entries.filter(({ part }) => part === heading).map(({ entry }) => entry);
    expect(ofPart, heading).not.toEqual([]);
    expect(ofPart, heading).toEqual(ofPart.toSorted());
  }
});

test("the index of the documentation has seven shelves, and each page of docs/ is on one", () => {
  const index = textOf("docs/README.md");
  const shelves = ["Start here", "Guides", "Reference", "Evidence", "Reports", "Internals", "Decisions"];
  expect(sectionsOf(index).map(({ heading }) => heading)).toEqual(shelves);
  const linked = [...index.matchAll(/\]\((?!adr\/)([a-z0-9/-]+\.md)\)/g)].map(([, page = ""]) => `docs/${page}`);
  const pages = tracked.filter((path) => /^docs\/(?!adr\/).+\.md$/.test(path) && path !== "docs/README.md");
  expect(linked.toSorted()).toEqual(pages.toSorted());
});
