import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { limitTable } from "../src/http2/limits.ts";

test("docs/http2.md has every limit of the engine, with its default", () => {
  const page = readFileSync("docs/http2.md", "utf8");
  for (const [name, limit] of Object.entries(limitTable)) {
    const shown = Number.isFinite(limit.default) ? String(limit.default) : "off";
    expect(page).toContain(`| \`${name}\` | ${shown} | ${limit.unit} | ${limit.doc} |`);
  }
});
