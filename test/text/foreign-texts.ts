import { readFileSync } from "node:fs";

/** A vector of test/vectors/published-foreign-texts.json: an example of a generator's own specification. */
interface ForeignTextVector {
  readonly kind: string;
  readonly text: string;
  readonly createTime: string;
  readonly parts: Readonly<Record<string, string>>;
}

/** The texts of other generators that servers, the command line and the page read. */
export const { vectors: foreignTexts } = JSON.parse(
  readFileSync("test/vectors/published-foreign-texts.json", "utf8"),
) as { readonly vectors: readonly ForeignTextVector[] };
