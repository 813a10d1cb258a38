/**
 * A number with a comma between groups of three digits. Written by hand, because making the first object of Intl takes
 * longer than everything else that the page does until it is drawn, and 30 ms at the start of the program.
 *
 * @param value - Rounded to three digits behind the point; below 10^21.
 */
export function groupDigits(value: number | bigint): string {
  const isWhole = typeof value === "bigint" || Number.isInteger(value);
  const [whole = "", part] = String(isWhole ? value : Math.round(value * 1_000) / 1_000).split(".");
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return part === undefined ? grouped : `${grouped}.${part}`;
}
