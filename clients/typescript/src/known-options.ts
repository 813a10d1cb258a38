import { suggestion } from "../../../src/config/suggestion.ts";
import type { ClientOptions } from "./client-options.ts";
import type { PrefetchOptions } from "./prefetch-buffer.ts";
import type { StreamOptions } from "./run-source.ts";

/** The options of every client. */
export const clientOptionNames: Readonly<Record<keyof ClientOptions, true>> = {
  endpoints: true,
  token: true,
  insecureToken: true,
  timeoutMs: true,
  attemptTimeoutMs: true,
  retryMax: true,
  observer: true,
  logger: true,
  interceptors: true,
  deployment: true,
  layout: true,
  namespace: true,
  clock: true,
  random: true,
};

/** The options of a buffer. */
export const prefetchOptionNames: Readonly<Record<keyof PrefetchOptions, true>> = {
  maxAgeMs: true,
  outageMs: true,
  stockMax: true,
  countMin: true,
  countMax: true,
  timeoutMs: true,
  observer: true,
  logger: true,
  clock: true,
  random: true,
};

/** The options of a stream. */
export const streamOptionNames: Readonly<Record<keyof StreamOptions, true>> = {
  signal: true,
  timeoutMs: true,
  chunkSize: true,
  ordered: true,
};

/** Refuses options that are not an object, and unknown options: a misspelt option would silently keep its default. */
export function checkOptionNames(options: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new TypeError(`The options must be an object, such as { ${Object.keys(known)[0]}: ... }.`);
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(known, name))
      throw new TypeError(`There is no option ${name}.${suggestion(name, Object.keys(known))}`);
  }
}
