import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestOf } from "../../../test/support/processes/principals-file.ts";
import { temporaryFolder } from "../../../test/support/processes/running-server.ts";
import { IdError } from "../../errors.ts";
import { parsePrincipals, readPrincipalBytes } from "./principal-file.ts";

const token = "snw_secret-secret-secret";
const good = { name: "checkout", tokens: [digestOf(token)], permissions: ["ids"] };

/** The lines of the error with which a file is refused. */
function refused(content: unknown): readonly string[] {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return linesOf(() => parsePrincipals(Buffer.from(text), "p.json"));
}

function linesOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(IdError);
    expect(error).toMatchObject({ reason: "INVALID_CONFIG" });
    const shown = `${String(error)} ${JSON.stringify((error as IdError).metadata)}`;
    expect(shown).not.toContain("secret");
    return (error as IdError).message.split("\n");
  }
  return [];
}

test("a principal has a name, permissions, and tokens or names of certificates", () => {
  const quota = { idsPerSecond: 1, callsPerSecond: 1_000_000_000, streamsMax: 8 };
  const certificates = ["dns:B.Prod", "uri:spiffe://prod/b"];
  const second = { name: "b", certificates, permissions: ["observe", "manage"], ...quota };
  expect(parsePrincipals(Buffer.from(JSON.stringify({ principals: [good, second] })), "p.json")).toEqual([
    { ...good, certificates: [] },
    { ...second, tokens: [], certificates: ["dns:b.prod", "uri:spiffe://prod/b"] },
  ]);
  expect(parsePrincipals(Buffer.from('{"principals":[]}'), "p.json")).toEqual([]);
});

test("the file that docs/security.md shows is a good one", () => {
  const [, block = ""] = /```json [^\n]*\n(.*?)```/s.exec(readFileSync("docs/security.md", "utf8")) ?? [];
  expect(parsePrincipals(Buffer.from(block), "p.json").map(({ name }) => name)).toEqual(["checkout", "operators"]);
});

test("all faults of a file are reported at once, each with its place, and no token is shown", () => {
  const bad = { name: "A b", tokens: [token, 5], permissions: ["root"], certificates: ["cn:x"], ids: 0 };
  const lines = refused({ principals: [good, bad, "secret", { name: "c", permissions: [] }], secret: true });
  const places = lines.map((line) => line.slice(0, line.indexOf(" in p.json: ")));
  expect(new Set(places)).toEqual(
    new Set([
      "principals[1].name",
      "principals[1].tokens[0]",
      "principals[1].tokens[1]",
      "principals[1].permissions[0]",
      "principals[1].certificates[0]",
      "principals[1]",
      "principals[2]",
      "principals[3].permissions",
      "--principals",
    ]),
  );
  for (const line of lines) expect(line).toMatch(/: Give .+\.$/);
});

test.each(["idsPerSecond", "callsPerSecond", "streamsMax"])("a quota is a whole number from 1 on: %s", (key) => {
  for (const value of [0, -1, 1.5, 1e10, "5", null, [1]]) {
    const [line] = refused({ principals: [{ ...good, [key]: value }] });
    expect(line).toMatch(
      new RegExp(`^principals\\[0\\]\\.${key} in p\\.json: Give a whole number from 1 to .+ no limit\\.$`),
    );
  }
});

test("a plain token where its hash belongs is refused with what to write, and not shown", () => {
  const [line] = refused({ principals: [{ ...good, tokens: [token] }] });
  expect(line).toMatch(
    /^principals\[0\]\.tokens\[0\] in p\.json: Give sha256: and 64 lower-case hex digits, .* never the token itself\.$/,
  );
});

test("a name, a token or a certificate that occurs twice is refused: one caller would pass for another", () => {
  const other = { ...good, certificates: ["dns:a", "dns:A"] };
  expect(refused({ principals: [good, other] }).map((line) => line.split(" in ")[0])).toEqual([
    "principals[1].name",
    "principals[1].tokens[0]",
    "principals[1].certificates[1]",
  ]);
});

test("a text that occurs twice, a list that is too long and a bad item are reported together", () => {
  const tokens = [...Array.from({ length: 16 }, (_, index) => digestOf(`${token}-${index}`)), 5];
  const lines = refused({
    principals: [
      { ...good, certificates: ["dns:a"] },
      { ...good, permissions: ["root"], certificates: ["dns:A"], tokens },
      { ...good, name: "other", idsPerSecond: 0 },
      "secret",
    ],
  });
  expect(new Set(lines.map((line) => line.replace(" in p.json", "").slice(0, 45)))).toEqual(
    new Set(
      [
        "principals[1].tokens[16]: Give sha256: and 64 lower-case hex digits",
        "principals[1].tokens: Give at most 16.",
        "principals[1].permissions[0]: Give one or more of ids",
        "principals[2].idsPerSecond: Give a whole number",
        "principals[3]: Give an object with name, permissions",
        "principals[1].name: It is already at principals[0].name",
        "principals[1].certificates[0]: It is already at principals[0].certificates[0]",
        "principals[2].tokens[0]: It is already at principals[0].tokens[0]",
      ].map((line) => line.slice(0, 45)),
    ),
  );
});

test("a text that is not JSON is refused by its place, because the text may be a token", () => {
  expect(refused(`{"principals": [{"tokens": ["${token}`)[0]).toMatch(
    /^--principals is "p\.json"\. It is not JSON.*\.$/,
  );
  expect(refused(token)[0]).toMatch(/It is not JSON/);
  expect(refused("")).toHaveLength(1);
  expect(refused([])).toHaveLength(1);
  expect(refused("null")).toHaveLength(1);
});

test("a path that is not a file, cannot be read or is too large is refused, and a device is not read without end", () => {
  const folder = temporaryFolder();
  const path = (name: string): string => join(folder, name);
  mkdirSync(path("folder"));
  writeFileSync(path("large"), Buffer.alloc(1_048_577, 32));
  for (const name of [path("absent"), path("folder"), path("large"), "/dev/zero"]) {
    expect(linesOf(() => readPrincipalBytes(name))).toEqual([expect.stringMatching(/^--principals is ".*Name a file/)]);
  }
});

test("a thousand principals are the most", () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `p${index}`, tokens: [], permissions: ["ids"] }));
  expect(refused({ principals: many(1_000) })).toEqual([]);
  expect(refused({ principals: many(1_001) })).toEqual(["principals in p.json: Give at most 1000."]);
});

test.each([
  ["tokens", (index: number) => digestOf(`${token}-${index}`)],
  ["certificates", (index: number) => `dns:app-${index}.prod`],
] as const)("a principal has at most sixteen %s", (key, textOf) => {
  const principal = (count: number) => ({ ...good, [key]: Array.from({ length: count }, (_, index) => textOf(index)) });
  expect(refused({ principals: [principal(16)] })).toEqual([]);
  expect(refused({ principals: [principal(17)] })).toEqual([`principals[0].${key} in p.json: Give at most 16.`]);
});
