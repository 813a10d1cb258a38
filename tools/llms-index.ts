/**
 * Writes llms.txt, the index of the documentation for programs that read it (https://llmstxt.org), from docs/README.md.
 * Part of `npm run generate`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { posix } from "node:path";

/** The text of llms.txt. Links are relative to the root of the repository. */
export function llmsIndex(): string {
  const { description } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly description: string };
  const [, ...sections] = readFileSync("docs/README.md", "utf8").split(/^## /m);
  const body = sections.map((section) => `## ${section}`).join("");
  const links = body.replaceAll(
    /\]\((?!https?:)([^)]+)\)/g,
    (_, target: string) => `](${posix.normalize(`docs/${target}`)})`,
  );
  return `# Snowlane\n\n> ${description}\n\n${links.trimEnd()}\n`;
}

if (import.meta.main) writeFileSync("llms.txt", llmsIndex());
