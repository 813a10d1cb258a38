/** How many calls ended with a code of gRPC. */
export interface CodeCount {
  /** Its name, such as `RESOURCE_EXHAUSTED`. */
  readonly code: string;
  readonly count: number;
}

/** Adds up the errors of several seconds by their codes, the most frequent first. */
export function addErrorCodes(samples: readonly { readonly errorCodes: readonly CodeCount[] }[]): readonly CodeCount[] {
  const counts = new Map<string, number>();
  for (const { errorCodes } of samples)
    for (const { code, count } of errorCodes) counts.set(code, (counts.get(code) ?? 0) + count);
  return [...counts].map(([code, count]) => ({ code, count })).toSorted((one, other) => other.count - one.count);
}
