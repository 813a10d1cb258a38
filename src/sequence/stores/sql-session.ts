import type { NamedValues } from "./named-values.ts";

/** A row as a driver reads it. Texts are strings, and numbers above 2^53 keep their digits. */
export type Row = Readonly<Record<string, string | number | bigint | boolean | null>>;

/** A connection on which statements are run. */
export interface SqlSession {
  /** @returns How many rows were written. */
  run(text: string, values?: NamedValues): Promise<number>;
  all(text: string, values?: NamedValues): Promise<readonly Row[]>;
}
