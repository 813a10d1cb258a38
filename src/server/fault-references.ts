import { randomBytes } from "node:crypto";
import type { Log } from "./log.ts";

/** How long callers that meet the same fault are given the same reference. */
const foldMs = 10_000;

/**
 * Writes down faults of ours under references of 64 random bits, which callers are given instead of the cause.
 *
 * A caller can make a call fail thousands of times a second. Faults of one method with one stack therefore share a
 * reference, and a line, for ten seconds; then another line gives their number.
 */
export class FaultReferences {
  readonly #log: Log;
  readonly #current = new Map<string, { readonly reference: string; repeatedCount: number }>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Gives the reference under which the log has the cause. @param method - `package.Service/Method`. */
  refer(error: unknown, method: string): string {
    // The text may repeat what a caller sent; the stack below it does not.
    const stack = error instanceof Error ? error.stack?.replace(error.message, "") : typeof error;
    const key = `${method} ${stack}`;
    const known = this.#current.get(key);
    if (known !== undefined) {
      known.repeatedCount += 1;
      return known.reference;
    }
    const reference = randomBytes(8).toString("hex");
    const fault = { reference, repeatedCount: 0 };
    this.#current.set(key, fault);
    this.#log.error("A call failed because of an internal error", { reference, method, error });
    setTimeout(() => {
      this.#current.delete(key);
      const { repeatedCount } = fault;
      if (repeatedCount > 0)
        this.#log.error("It failed again because of the same error", { reference, method, repeatedCount });
    }, foldMs).unref();
    return reference;
  }
}
