/** One typing error is allowed for each two characters, at most two in all: a name of three letters may have one. */
const charactersPerError = 2;
const errorsMax = 2;

/**
 * ` Did you mean listen?` if a known name is a few typing errors away, otherwise nothing.
 *
 * @param prefix - Written before the name, such as the dashes of a flag.
 */
export function suggestion(name: string, known: Iterable<string>, prefix = ""): string {
  const near = nearest(name, known);
  return near === undefined ? "" : ` Did you mean ${prefix}${near}?`;
}

/** Finds the known name that is the fewest typing errors away; undefined if none is close. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const distanceMax = Math.min(errorsMax, Math.floor(name.length / charactersPerError));
  return [...known]
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= distanceMax)
    .toSorted((a, b) => a.distance - b.distance)[0]?.candidate;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? a.length;
}
