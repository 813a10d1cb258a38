import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The part of docs/style.md that a search can tell: the width of pages, and the forms to write plainly. */

const tracked = execFileSync("git", ["ls-files"], { encoding: "utf8" }).split("\n");
const pages = tracked.filter((path) => path.endsWith(".md"));

const columnsMax = 120;

/** A line that one link fills, with a list's mark, brackets and a full stop around it. */
const loneLink = /^[\s>*-]*\(?!?\[[^\]]*\]\([^)]*\)\)?[.,;:]?$/;

/** The lines that begin and end a block that a program writes. */
const generatedBegin = /^<!-- (begin .*written by|begin .*the output of|findings -->|Written by npm run generate)/;
const generatedEnd = /^<!-- end/;

/** A page without code and generated blocks: their lines are empty, so that numbers of lines stay. */
function writtenOf(page: string): readonly string[] {
  let isCode = false;
  let isGenerated = false;
  return page.split("\n").map((line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    isGenerated ||= generatedBegin.test(line);
    const isWritten = !isCode && !isFence && !isGenerated;
    if (generatedEnd.test(line)) isGenerated = false;
    return isWritten ? line : "";
  });
}

/** Numbers of the lines of prose that are too long. */
function longLinesOf(page: string): readonly number[] {
  return writtenOf(page).flatMap((line, index) => {
    const isLong = line.length > columnsMax && !/^\s*\|/.test(line) && !loneLink.test(line);
    return isLong ? [index + 1] : [];
  });
}

test("prose of pages keeps within 120 columns", () => {
  expect(pages.length).toBeGreaterThan(10);
  const wrong = pages.flatMap((path) => longLinesOf(readFileSync(path, "utf8")).map((number) => `${path}:${number}`));
  expect(wrong).toEqual([]);
});

test("a long line of prose is found; tables, code, generated blocks and lone links may be long", () => {
  const long = "word ".repeat(30).trim();
  const link = `[${long}](page.md)`;
  expect(longLinesOf(`# Title\n\n${long}\n`)).toEqual([3]);
  expect(longLinesOf(`- ${long}\n> ${long}\n    ${long}\n${link} and more\n`)).toEqual([1, 2, 3, 4]);
  expect(longLinesOf("```\na\n```\n" + long)).toEqual([4]);
  expect(longLinesOf(`<!-- begin x: written by npm run x -->\n${long}\n<!-- end x -->\n${long}`)).toEqual([4]);
  expect(longLinesOf(`| ${long} |\n\`\`\`\n${long}\n\`\`\`\n- ${link}.\n(${link})`)).toEqual([]);
});

/** A form of the dialect: how it is found, a text that has it, and the text to write instead. */
interface Form {
  readonly found: RegExp;
  readonly bad: string;
  readonly instead: string;
}

const forms: readonly Form[] = [
  { found: /\bwhoever\b/i, bad: "Whoever waits gets an error.", instead: "Every caller that waits gets an error." },
  {
    found: /(?<=^|[.:;!?"(|`>] ?)Who(?:m|se)? (?!.*\?$)/m,
    bad: "Who finds no place is refused.",
    instead: "A caller that finds no place is refused.",
  },
  {
    found: /\b(?:of|to|for|by|from|than|and|but|if|so|lets?|tells?) who (?:is|has|was|[a-z]+s)\b/,
    bad: "The port closes, and who comes later is refused.",
    instead: "The port closes, and later callers are refused.",
  },
  {
    found: /[:;] who (?:is|has|was|[a-z]+s)\b(?!.*\?)/,
    bad: "It has a lock; who gets it may go on.",
    instead: "It has a lock; the process that gets it may go on.",
  },
  {
    found:
      /(?<=^|[.:;!?"(|`>] ?)What (?:[a-z]+ )?(?:is|are|has|have|comes|goes|finds|asks|waits|hangs|stands|was|were)\b(?!.*\?$)/m,
    bad: "What is left ends with an error.",
    instead: "Calls that are left end with an error.",
  },
  { found: /\bneed(?:s? not|n't)\b/i, bad: "It need not wait.", instead: "It does not have to wait." },
  { found: /\b(?:is|are) made of\b/, bad: "What a queue is made of.", instead: "The parts of a queue." },
  { found: /\bdear(?:er|est)?\b/i, bad: "A dear call waits.", instead: "An expensive call waits for its turn." },
  {
    found: /\b(?:he|him|his|himself|she|her|hers|herself)\b/i,
    bad: "The holder stops when his window ends.",
    instead: "The holder stops when its window ends.",
  },
  { found: /\bhangs? (?:up)?on\b/, bad: "All hangs on the clock.", instead: "All of this depends on the clock." },
  { found: /\bin vain\b/, bad: "The wait was in vain.", instead: "The wait ended without an ID." },
  { found: /\bupon\b/i, bad: "A fault is laid upon a server.", instead: "A fault is injected into a server." },
  { found: /\blays? a quarantine\b/, bad: "It lays a quarantine.", instead: "It sets a quarantine." },
  { found: /\banew\b/i, bad: "It begins anew.", instead: "It begins again." },
  { found: /\bmend(?:s|ed|ing)?\b/i, bad: "Version 2 mends it.", instead: "Version 2 fixes it." },
  {
    found: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|other\b|[a-z]+er\b)[a-z]/i,
    bad: "A negative number is no ID.",
    instead: "A negative number is not an ID.",
  },
  {
    // `none` is also a value of --auth.
    found: /(?<!\bthere |--auth )\b(?:is|are|was|were) none\b(?! of\b)/,
    bad: "Other keys are none.",
    instead: "Other keys are not worker keys.",
  },
  { found: /\bso many\b/i, bad: "It waits for so many answers.", instead: "It waits for that many answers." },
  { found: /\b(?:for|within) so long\b/i, bad: "A segment lasts for so long.", instead: "A segment lasts this long." },
  {
    found: /\bmay not stand\b/,
    bad: "A character that may not stand here.",
    instead: "An unexpected character.",
  },
  { found: /\bbelongs? into\b/i, bad: "The line belongs into the file.", instead: "Put the line into the file." },
  {
    found: /\b(?:something|nothing|anything) else than\b/i,
    bad: "Something else than a server answers.",
    instead: "Something other than a server answers.",
  },
  { found: /\bis told from\b/i, bad: "A URL is told from a path.", instead: "A URL is distinguished from a path." },
  {
    found: /\b(?:is|are) told (?:in|at|once|with|of|by|too)\b/i,
    bad: "A wrong count is told at its field.",
    instead: "A wrong count is reported at its field.",
  },
  { found: /\bone's own\b/i, bad: "A layout of one's own.", instead: "A custom layout." },
  {
    found: /\bwith (?:blanks|commas|tabs) between\b/,
    bad: "URLs with blanks between.",
    instead: "URLs separated by spaces.",
  },
  { found: /\bsmall letters?\b/i, bad: "1 to 63 small letters.", instead: "1 to 63 lower-case letters." },
  { found: /\bcomes? free\b/i, bad: "One comes free soon.", instead: "One becomes free soon." },
  { found: /\bpassed over\b/i, bad: "Replicas are passed over.", instead: "Replicas are skipped." },
  { found: /\bin the place of\b/i, bad: "A fake in the place of a store.", instead: "A fake in place of a store." },
  {
    found: /\bthe parts of (?:an? )?\{@link/i,
    bad: "The parts of a {@link Listener}.",
    instead: "The limits of a {@link Listener}, and where its faults go.",
  },
  {
    found: /\bsee the head of (?:this|the) file\b/i,
    bad: "See the head of this file.",
    instead: "Holds one worker ID, and renews its window.",
  },
];

/** The page and the test that show the forms themselves. */
const showsForms = /^(docs\/style\.md|test\/house\/english\.test\.ts)$/;

/**
 * A file's text with each paragraph on one line, so that a form is found across line ends, and the number of the line
 * that each paragraph begins in.
 */
function paragraphsOf(lines: readonly string[]): readonly { readonly text: string; readonly number: number }[] {
  const paragraphs: { text: string; number: number }[] = [];
  let isOpen = false;
  let wasComment = false;
  for (const [index, line] of lines.entries()) {
    const bare = line.replace(/^\s*(?:\/\*\*?|\*\/|\*(?!\*)|\/\/+|#+|>|-)?\s*/, "").replace(/\s*\*\/$/, "");
    const isComment = /^\s*(?:\/[/*]|\*|#)/.test(line);
    const beginsItem = isComment !== wasComment || /^\s*(?:[-|#]|\d+\. )/.test(line);
    wasComment = isComment;
    const last = paragraphs.at(-1);
    if (bare === "") isOpen = false;
    else if (isOpen && !beginsItem && last !== undefined) last.text += ` ${bare}`;
    else paragraphs.push({ text: bare, number: index + 1 });
    if (bare !== "") isOpen = true;
  }
  return paragraphs;
}

/** The forms in the lines of a file, each as the line of its paragraph and what to write instead. */
function formsIn(lines: readonly string[]): readonly string[] {
  return paragraphsOf(lines).flatMap(({ text: paragraph, number }) =>
    forms.flatMap(({ found, instead }) => {
      const match = found.exec(paragraph);
      return match === null ? [] : [`${number}: "${match[0]}": write for example "${instead}"`];
    }),
  );
}

/** Sources and settings, except stubs that programs write from the protos. */
const sources = tracked.filter(
  (path) =>
    /^(clients|deploy|examples|model|proto|src|test|tools|web)\/.*\.(c|conf|css|go|html|java|mjs|php|pml|proto|py|rb|service|ts|yaml)$/.test(
      path,
    ) &&
    !/\/(gen|generated)\//.test(path) &&
    !showsForms.test(path),
);

test("no page and no source uses a form that docs/style.md asks to write plainly", () => {
  const written = pages
    .filter((path) => !showsForms.test(path))
    .map((path) => [path, writtenOf(readFileSync(path, "utf8"))] as const);
  const read = sources.map((path) => [path, readFileSync(path, "utf8").split("\n")] as const);
  expect(read.length).toBeGreaterThan(500);
  expect([...written, ...read].flatMap(([path, lines]) => formsIn(lines).map((form) => `${path}:${form}`))).toEqual([]);
});

test.each(forms)("$bad is found, also across lines and in comments; $instead is not", ({ bad, instead }) => {
  expect(formsIn([bad])).toHaveLength(1);
  expect(formsIn(["A page.", "", ...bad.split(" ")])).toEqual([expect.stringMatching(/^3: /)]);
  expect(formsIn([`  /** ${bad} */`])).toHaveLength(1);
  expect(formsIn([`- ${bad}`])).toHaveLength(1);
  expect(formsIn([`A sentence. ${bad}`])).toHaveLength(1);
  expect(formsIn([instead])).toEqual([]);
});

test("a form is found in a comment that follows code", () => {
  const found = [expect.stringMatching(/^2: "Who /)];
  expect(formsIn(["  if (isFull) {", "    // Who comes now is refused.", "    return;"])).toEqual(found);
});

test("a question may begin with who or what, and code and generated blocks are not looked at", () => {
  expect(formsIn(["Who holds it?", "", "What callers are there?"])).toEqual([]);
  expect(formsIn(writtenOf("```\nwhoever\n```\n<!-- findings -->\nanew\n<!-- end -->"))).toEqual([]);
});
