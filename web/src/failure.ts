import type { ErrorReason } from "../../src/errors.ts";

/** Why a call failed, for the texts. */
export interface Failure {
  /** UNREACHABLE: no answer came; DENIED and UNAUTHENTICATED: by a code without a reason, as proxies give it. */
  readonly reason: ErrorReason | "UNREACHABLE" | "UNAUTHENTICATED" | "DENIED" | "OTHER";
  /** The server's own words, shown as text. */
  readonly message: string;
  /** The permission that is missing, where the server names it. */
  readonly permission?: string | undefined;
}
