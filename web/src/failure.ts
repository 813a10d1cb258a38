import type { ErrorReason } from "../../src/errors.ts";

/** Reasons of methods that the page does not call, and of programs. */
type ReasonElsewhere =
  | "MALFORMED_ID"
  | "MALFORMED_TEXT"
  | "AMBIGUOUS_TEXT"
  | "INVALID_LAYOUT"
  | "INVALID_TIME_RANGE"
  | "INVALID_CONFIG"
  | "INVALID_SEQUENCE"
  | "SEQUENCE_NOT_FOUND"
  | "SEQUENCE_EXISTS"
  | "SEQUENCE_DISABLED"
  | "SEQUENCE_CHANGED"
  | "VALUES_EXHAUSTED"
  | "PERIOD_CLOSED";

/** The words for every reason that the page can meet. OTHER goes before the server's own words. */
export type FailureWords = Readonly<Record<Exclude<Failure["reason"], ReasonElsewhere>, string>>;

/** Says a reason in words; one that the page cannot meet by the server's own. */
export function failureWords(words: FailureWords, reason: string, message: string): string {
  return words[reason as keyof FailureWords] && reason !== "OTHER"
    ? words[reason as keyof FailureWords]
    : `${words.OTHER} ${message}`;
}

/** Why a call failed, for the texts. */
export interface Failure {
  /** UNREACHABLE: no answer came; DENIED and UNAUTHENTICATED: by a code without a reason, as proxies give it. */
  readonly reason: ErrorReason | "UNREACHABLE" | "UNAUTHENTICATED" | "DENIED" | "OTHER";
  /** The server's own words, shown as text. */
  readonly message: string;
  /** The permission that is missing, where the server names it. */
  readonly permission?: string | undefined;
}
