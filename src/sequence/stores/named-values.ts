/** Values of a statement by their names, `:name` in its text, for drivers that number them. */

/** A value of a statement. */
type SqlValue = string | number | bigint;

/** Values by their names. */
export type NamedValues = Readonly<Record<string, SqlValue>>;

/** A statement as a driver takes it. */
export interface BoundStatement {
  readonly text: string;
  readonly values: readonly string[];
}

/** How a dialect writes the parameter of a value. `index` counts the values from 1. */
export interface ParameterRules {
  /** Writes the parameter of a text, such as `$1`. */
  readonly text: (index: number) => string;
  /** Whole numbers are sent as text, and cast in the statement: a driver might send them as floating point. */
  readonly number: (index: number) => string;
}

/** A name after a colon, unless the colon is the second one of a cast. */
const namePattern = /(?<!:):([a-zA-Z]\w*)/g;

/** Replaces the names in a statement by parameters; a name that occurs twice gets two parameters. */
export function bindValues(text: string, values: NamedValues, rules: ParameterRules): BoundStatement {
  const bound: string[] = [];
  const written = text.replace(namePattern, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`a statement has no value for ${name}`);
    bound.push(String(value));
    return typeof value === "string" ? rules.text(bound.length) : rules.number(bound.length);
  });
  return { text: written, values: bound };
}
