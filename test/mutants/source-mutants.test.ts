import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { answers } from "./answers.ts";
import { mutantsOf } from "./source-mutants.ts";
import { mutatedFiles } from "./mutated-files.ts";

/** The kinds and changed lines of the mutants of a text. */
function slips(text: string): readonly string[] {
  const before = text.split("\n");
  return mutantsOf("a.ts", text).map(({ text: after, line, name }) => {
    const changed = after.split("\n")[line - 1];
    expect(changed).not.toBe(before[line - 1]);
    return `${name.split(" | ")[2]}: ${changed}`;
  });
}

describe("a mutant of a source", () => {
  test.each([
    [
      "turns a condition round, moves its boundary, or drops what it guards",
      "if (a < b) c();",
      [
        "condition turned round: if (!(a < b)) c();",
        "dropped: ",
        "< as <=: if ((a) <= (b)) c();",
        "dropped: if (a < b) ;",
      ],
    ],
    [
      "takes one argument of several for the highest",
      "const a = Math.max(b, c);",
      ["Math.max without the others: const a = (b);", "Math.max without the others: const a = (c);"],
    ],
    ["does not copy", "const a = Uint8Array.from(b);", ["not copied: const a = (b);"]],
    ["does not wait", "const a = await b();", ["not awaited: const a = (b());"]],
    [
      "leaves types, imports, assertions and texts for people alone",
      'import { a } from "b";\nassert(a < 1);\nconst c: 1 | 2 = "x" + a;',
      [],
    ],
  ])("%s", (_, text, expected) => {
    expect(slips(text)).toEqual(expected);
  });

  test("of a store drops conditions and clauses of SQL, moves boundaries, and keeps columns as they were", () => {
    const source = [
      'const keep = "FOR SHARE OF p";',
      "const take = `UPDATE ${counter} c SET used = used + :n, write_id = :w",
      "  WHERE c.name = :name AND used < :end AND NOT EXISTS (SELECT 1 FROM ${other} s WHERE s.name = :name)`;",
      'const isKey = "namespace = :namespace";',
      'const make = "CREATE TABLE a (b INT)";',
    ].join("\n");
    const before = source.split("\n");
    const found = mutantsOf("src/a/stores/b.ts", source).map(({ text: after, line, name }) => {
      const changed = after.split("\n")[line - 1];
      expect(changed).not.toBe(before[line - 1]);
      return `${name.split(" | ")[2]}: ${changed?.trim()}`;
    });
    const [whole, conditions] = [before[1], before[2]!.trim()];
    expect(found).toEqual([
      'SQL clause dropped: const keep = "";',
      `SQL condition holds always: ${conditions.replace("c.name = :name", "1 = 1")}`,
      `SQL condition holds always: ${conditions.replace("used < :end", "1 = 1")}`,
      `SQL condition holds always: ${conditions.replace(/NOT EXISTS .*\)/, "1 = 1")}`,
      `SQL condition holds always: ${conditions.replace("s.name = :name", "1 = 1")}`,
      `SQL column kept: ${whole?.replace("used = used + :n", "used = used")}`,
      `SQL column kept: ${whole?.replace("write_id = :w", "write_id = write_id")}`,
      `SQL + as -: ${whole?.replace("+", "-")}`,
      `SQL < as <=: ${conditions.replace("<", "<=")}`,
      'SQL condition holds always: const isKey = "1 = 1";',
    ]);
    expect(mutantsOf("src/a/b.ts", source)).toEqual([]);
  });

  test("is named by file, function, kind and text, so that the name outlives moved lines", () => {
    const text = "class A {\n  b() {\n    return !c && !c;\n  }\n}";
    const names = mutantsOf("a.ts", text).map(({ name }) => name);
    expect(names).toEqual([
      "a.ts | A.b | && as || | !c && !c",
      "a.ts | A.b | not negated | !c",
      "a.ts | A.b | not negated | !c | 2",
    ]);
    expect(mutantsOf("a.ts", `\n\n${text}`).map(({ name }) => name)).toEqual(names);
  });
});

test("each answer to a survivor is about a mutant that there is", () => {
  const names = new Set(
    mutatedFiles().flatMap((file) => mutantsOf(file, readFileSync(file, "utf8")).map(({ name }) => name)),
  );
  expect(names.size).toBeGreaterThan(1_000);
  expect(Object.keys(answers).filter((name) => !names.has(name))).toEqual([]);
});
