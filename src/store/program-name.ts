/**
 * The version of Snowlane that something in a store names as the one that wrote it, for a message; undefined where it
 * names none. Every program that may write to the store could have written it, so it is short and printable.
 */
export function programName(value: unknown): string | undefined {
  return typeof value === "string" && /^\d[ -~]{0,39}$/.test(value) ? value : undefined;
}
