import type { SwitchedRule } from "../../test/simulation/shown/rule-names.ts";
import { address } from "../../docs/safety.md?address";

/** The page about safety as the repository has it. Its text is served beside the page, so a link needs no network. */
export const safetyPath = "docs/safety.md";

/** How the sentence begins that a rule comes from, as one line of that text has it. */
const sentences: Readonly<Record<SwitchedRule, string>> = {
  "own-clock": "A process may use a timestamp only if it lies below",
  "no-floor": "The grant begins at the highest of its mark",
  "no-quarantine": "new grants begin above the",
  "identity-is-trusted": "A store that started again, is another one",
};

/** The address of the text; with a rule, a browser goes to its sentence and marks it. */
export function safetyLink(rule?: SwitchedRule): string {
  // https://wicg.github.io/scroll-to-text-fragment/
  return rule === undefined ? address : `${address}#:~:text=${encodeURIComponent(sentences[rule])}`;
}
