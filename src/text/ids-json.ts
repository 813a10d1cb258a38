/** How IDs become JSON in JavaScript. */
export const ids = {
  /**
   * Writes each bigint as a string, as the server does, and leaves every other value as it is: the second argument of
   * `JSON.stringify`, or `app.set("json replacer", ids.toJSON)` in Express. A bigint has no JSON of its own, and a
   * number would lose digits.
   */
  toJSON: (_key: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value),
} as const;
