/**
 * The version of Snowlane that wrote something in a store, according to a field there, for a message; undefined if
 * there is none. Any program that may write to the store could have written it, so only a short, printable text is
 * accepted.
 */
export function programName(value: unknown): string | undefined {
  return typeof value === "string" && /^\d[ -~]{0,39}$/.test(value) ? value : undefined;
}
