import { refuseProblems, type SettingProblem } from "./load-settings.ts";

/** What settings that hang on each other come to, or what is wrong with them. */
export type Settled<T> =
  | { readonly kind: "good"; readonly value: T }
  | { readonly kind: "bad"; readonly problems: readonly SettingProblem[] };

/** What is wrong; nothing if all is good. */
export function problemsOf(settled: Settled<unknown>): readonly SettingProblem[] {
  return settled.kind === "bad" ? settled.problems : [];
}

/** @throws IdError INVALID_CONFIG with all that is wrong. */
export function valueOf<T>(settled: Settled<T>): T {
  if (settled.kind === "good") return settled.value;
  return refuseProblems(settled.problems);
}
