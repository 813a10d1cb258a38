/**
 * The suffixes that may follow the digits of a literal in a program and are not part of an ID: `n`, `L`, `ULL`, `u64`.
 */
export const literalSuffixSource = "(?:n|[uU]?[lL]{1,2}|[uU][lL]?|u64|i64)";

/** Such a suffix at the beginning of what is behind the digits. */
export const literalSuffix = new RegExp(`^${literalSuffixSource}(?![A-Za-z0-9_])`);
