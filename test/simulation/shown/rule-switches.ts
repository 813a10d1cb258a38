import { mutants } from "../mutants.ts";
import { type Mutant, patched } from "../mutant.ts";
import { type SwitchedRule, switchedRules } from "./rule-names.ts";

/** The text of each rule with its switch, in place of what its mutant finds: docs/adr/0199 says why these four. */
const switchedTexts: Readonly<Record<SwitchedRule, string>> = {
  "no-floor":
    'floorMs: globalThis.removedRule === "no-floor" ? Number.NEGATIVE_INFINITY : Math.max(mark?.untilMs ?? Number.NEGATIVE_INFINITY, lostMs),',
  "no-quarantine":
    'const lostMs = t0Ms === 0 || globalThis.removedRule === "no-quarantine" ? Number.NEGATIVE_INFINITY : t0Ms + quarantineMs(rules);',
  "identity-is-trusted":
    'return { ...fresh, ...(globalThis.removedRule === "identity-is-trusted" ? { t0Ms: known.t0Ms } : {}), earlier: addEarlierLife(',
  "own-clock":
    'const fromMs = globalThis.removedRule === "own-clock" ? Math.max(at.wallMs, at.floorMs) : Math.max(at.markMs, at.wallMs, at.floorMs);',
};

/** The mutant of a rule. */
export function mutantOf(rule: SwitchedRule): Mutant {
  return mutants.find(({ name }) => name === rule)!;
}

/** The code's own assertions hold while no rule is away: without one, the checker is to see it from outside. */
export const assertion: Pick<Mutant, "file" | "find" | "replace"> = {
  file: "src/assert.ts",
  find: "if (!condition)",
  replace: "if (!condition && globalThis.removedRule === undefined)",
};

const switches = [
  assertion,
  ...switchedRules.map((rule) => {
    const { file, find } = mutantOf(rule);
    return { file, find, replace: switchedTexts[rule] };
  }),
];

/**
 * Puts the switches into the text of a source, where it has some of them. A bundler does that for the page; the product
 * has none.
 *
 * @param path - Of the source; it may begin anywhere.
 * @throws Error if what is to be replaced does not occur there exactly once.
 */
export function withSwitches(path: string, text: string): string {
  return switches.filter(({ file }) => path.endsWith(`/${file}`)).reduce(patched, text);
}
