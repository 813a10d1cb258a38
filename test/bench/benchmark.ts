/** A figure of a table that is drawn as a bar as well. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Ours stand out from the peers. */
  readonly isOurs: boolean;
}

/** A result of a benchmark: one table of docs/reports/benchmarks.md. */
export interface Finding {
  readonly title: string;
  /** A note on this table alone, in Markdown. */
  readonly note?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Shorter is better. Absent: no picture. */
  readonly chart?: { readonly unit: string; readonly bars: readonly Bar[] };
}

/** One benchmark of `npm run bench`: a section of docs/reports/benchmarks.md. */
export interface Benchmark {
  /** One word: the argument of `npm run bench`, and the name of the section. */
  readonly name: string;
  /** Heading of the section. */
  readonly title: string;
  /** The subject and the method of the measurement, in Markdown. */
  readonly about: string;
  /** npm packages whose versions belong to the figures. */
  readonly packages: readonly string[];
  /** Measures. `log` shows the progress to a person who waits. */
  readonly run: (log: (line: string) => void) => Promise<readonly Finding[]>;
}
