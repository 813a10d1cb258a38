import { refuseProblems, type SettingProblem } from "./load-settings.ts";

/** The result of settings that depend on each other: a value, or their problems. */
export type Resolved<T> =
  | { readonly kind: "good"; readonly value: T }
  | { readonly kind: "bad"; readonly problems: readonly SettingProblem[] };

/** The problems; empty if all settings are good. */
export function problemsOf(resolved: Resolved<unknown>): readonly SettingProblem[] {
  return resolved.kind === "bad" ? resolved.problems : [];
}

/** @throws IdError INVALID_CONFIG with all problems. */
export function valueOf<T>(resolved: Resolved<T>): T {
  if (resolved.kind === "good") return resolved.value;
  return refuseProblems(resolved.problems);
}
