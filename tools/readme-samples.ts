/**
 * Fills the code blocks of pages from the samples, so that what is shown is what is tested. A block belongs to the file
 * that the comment above it names, relative to the page: `<!-- samples/basic.ts -->`. With `main` behind the name, it
 * has the lines of the program's main function alone.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeChanged } from "./write-changed.ts";

const block = /<!-- (\S+\.\w+)( main)? -->\n```(\w*)\n[\s\S]*?```/g;

/** The pages that may show samples, by path, as they should be. */
export function readmesWithSamples(): ReadonlyMap<string, string> {
  const paths = ["README.md", ...globSync(["clients/*/README.md", "docs/*.md"]).toSorted()];
  return new Map(paths.map((path) => [path, fill(path, readFileSync(path, "utf8"))]));
}

function fill(path: string, page: string): string {
  return page.replace(block, (_, file: string, part: string | undefined, language: string) => {
    const program = readFileSync(join(dirname(path), file), "utf8").trimEnd();
    const code = part === undefined ? program : mainOf(file, program);
    return `<!-- ${file}${part ?? ""} -->\n\`\`\`${language}\n${code}\n\`\`\``;
  });
}

/** The lines of a program's main function, without their indentation. */
function mainOf(file: string, program: string): string {
  const pattern = /^( *)(?:func main\(\)|public static void main\([^)]*\)) \{\n(\s*)([\s\S]*?)\n\1\}/m;
  const [, , indentation = "", body] = pattern.exec(program) ?? [];
  if (body === undefined) throw new Error(`${file} has no main function.`);
  return body.replaceAll(`\n${indentation}`, "\n");
}

if (import.meta.main) writeChanged(readmesWithSamples());
