/**
 * The origins whose pages may call. An origin is compared letter for letter; a star in the first label of its host
 * matches letters, digits and hyphens of that label, as in `https://pr-*.preview.example.com`.
 */
export class OriginList {
  readonly #whole: ReadonlySet<string>;
  readonly #patterns: readonly RegExp[];

  /** @param origins - The origins, as the setting has parsed them. */
  constructor(origins: readonly string[]) {
    this.#whole = new Set(origins.filter((origin) => !origin.includes("*")));
    this.#patterns = origins.filter((origin) => origin.includes("*")).map(patternOf);
  }

  get isEmpty(): boolean {
    return this.#whole.size === 0 && this.#patterns.length === 0;
  }

  has(origin: string): boolean {
    return this.#whole.has(origin) || this.#patterns.some((pattern) => pattern.test(origin));
  }
}

function patternOf(origin: string): RegExp {
  const literal = origin.replaceAll(/[^a-z0-9*]/g, String.raw`\$&`);
  return new RegExp(`^${literal.replace("*", "[a-z0-9-]+")}$`);
}
