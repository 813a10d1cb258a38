/** The rules that a reader may take away: without each, equal IDs come. */
export const switchedRules = ["own-clock", "no-floor", "no-quarantine", "identity-is-trusted"] as const;

/** One of {@link switchedRules}: the name of its mutant. */
export type SwitchedRule = (typeof switchedRules)[number];

declare global {
  /** The rule that is away in this process or worker; undefined = all of them hold. */
  var removedRule: SwitchedRule | undefined;
}
