import { readFileSync } from "node:fs";

/** Returns the code blocks of one language of a page, in the page's order, however they are marked. */
export function blocksOf(path: string, language: string): readonly string[] {
  const text = readFileSync(path, "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}(?: [^\\n]*)?\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, code = ""]) => code,
  );
}
