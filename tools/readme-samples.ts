/**
 * Fills the code blocks of pages from the samples, so that what is shown is what is tested. A block belongs to the file
 * that the comment above it names, relative to the page: `<!-- samples/basic.ts -->`.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const block = /<!-- (\S+\.\w+) -->\n```(\w*)\n[\s\S]*?```/g;

/** The pages that may show samples, by path, as they should be. */
export function readmesWithSamples(): ReadonlyMap<string, string> {
  const paths = ["README.md", ...globSync(["clients/*/README.md", "docs/*.md"]).toSorted()];
  return new Map(paths.map((path) => [path, fill(path, readFileSync(path, "utf8"))]));
}

function fill(path: string, readme: string): string {
  return readme.replace(block, (_, file: string, language: string) => {
    const code = readFileSync(join(dirname(path), file), "utf8").trimEnd();
    return `<!-- ${file} -->\n\`\`\`${language}\n${code}\n\`\`\``;
  });
}

if (import.meta.main) for (const [path, content] of readmesWithSamples()) writeFileSync(path, content);
