import { readFileSync } from "node:fs";

/** Returns the code blocks of one language of a page, in the page's order, however they are marked, also in lists. */
export function blocksOf(path: string, language: string): readonly string[] {
  const text = readFileSync(path, "utf8");
  const pattern = new RegExp(`^( *)\`\`\`${language}(?: [^\\n]*)?\\n([\\s\\S]*?)^\\1\`\`\``, "gm");
  return [...text.matchAll(pattern)].map(([, indentation = "", code = ""]) =>
    code.replaceAll(new RegExp(`^${indentation}`, "gm"), ""),
  );
}
