import type { Failure, Run } from "./run-vitest.ts";

/** More files than these have not failed by chance. */
const filesMax = 3;

/** A run whose failures had a second try. */
export interface TriedRun extends Run {
  /** Tests that failed at first and passed when they were run again. */
  readonly late: readonly Failure[];
}

function isOfUniqueness({ titles, message }: Failure): boolean {
  return titles === undefined || /twice|duplicate|repeat|unique|distinct/i.test(`${titles.join(" ")} ${message}`);
}

/**
 * The files to run again: what failed may be late servers on a busy machine, and not the one promise that must never
 * fail even once. Empty: no second try.
 */
export function filesToTryAgain(suite: string, failures: readonly Failure[]): readonly string[] {
  const files = [...new Set(failures.map(({ file }) => file))];
  return suite === "proof" || files.length > filesMax || failures.some(isOfUniqueness) ? [] : files;
}

/** A first run with what came of the second try: a test is late where that has seen it pass. */
export function withSecondTry(first: Run, again: Run): TriedRun {
  const ends = again.files.flatMap(({ file, tests }) =>
    tests.map(({ titles, status }) => ({ key: keyOf(file, titles), isPassed: status === "passed" })),
  );
  const isLate = ({ file, titles }: Failure): boolean => {
    // More than one test may have the same titles.
    const own = ends.filter(({ key }) => key === keyOf(file, titles));
    return titles !== undefined && own.length > 0 && own.every(({ isPassed }) => isPassed);
  };
  const late = first.failures.filter(isLate);
  const left = first.failures.filter((failure) => !late.includes(failure));
  const known = new Set(left.map(({ file, titles }) => keyOf(file, titles)));
  const newer = again.failures.filter(({ file, titles }) => !known.has(keyOf(file, titles)));
  const newlyFailed = newer.filter(({ titles }) => titles !== undefined).length;
  return { ...first, passed: first.passed + late.length - newlyFailed, failures: [...left, ...newer], late };
}

function keyOf(file: string, titles: readonly string[] = []): string {
  return JSON.stringify([file, ...titles]);
}
