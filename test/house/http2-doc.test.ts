import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { limitTable } from "../../src/http2/limits.ts";

test("docs/http2.md has every limit of the engine, with its default", () => {
  const page = readFileSync("docs/http2.md", "utf8");
  for (const [name, limit] of Object.entries(limitTable)) {
    const shown = Number.isFinite(limit.default) ? String(limit.default) : "off";
    expect(page).toContain(`| \`${name}\` | ${shown} | ${limit.unit} | ${limit.doc} |`);
  }
});

test("every test that docs/evidence/http2.md names is in the file that it names", () => {
  const [, table = ""] = readFileSync("docs/evidence/http2.md", "utf8").split("## What the prototype lacked");
  const named = [...table.matchAll(/`([\w/.-]+\.test\.ts)`: ((?:“[^”]+”(?:; )?)+)/g)].flatMap(
    ([, file = "", names = ""]) => [...names.matchAll(/“([^”]+)”/g)].map(([, name = ""]) => [file, name] as const),
  );
  expect(named.length).toBeGreaterThan(15);
  for (const [file, name] of named) expect(readFileSync(file, "utf8"), file).toContain(`"${name}"`);
});
