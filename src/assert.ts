/**
 * A broken invariant: a fault of ours, never of a caller or of the environment. The code that catches it logs it and
 * stops the process.
 */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/**
 * Checks an invariant.
 *
 * @param invariant - Its number in docs/architecture.md and what is broken, for example "I1: timestamp 5 is not below
 * the mark 5". Give a function where building the text each time would cost too much: it is called only if the
 * invariant is broken.
 * @throws InvariantError if `condition` is false.
 */
export function assert(condition: boolean, invariant: string | (() => string)): asserts condition {
  if (!condition) throw new InvariantError(typeof invariant === "string" ? invariant : invariant());
}
