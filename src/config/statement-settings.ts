import { type Setting, SettingError } from "./setting.ts";
import { moment, type SettingBase } from "./setting-kinds.ts";

/** A statement about one store: since when all IDs came from it. */
export interface StoreStatement {
  /** The fingerprint of the deployment, as GetInfo prints it. */
  readonly fingerprint: string;
  /** Unix milliseconds; -Infinity: always. */
  readonly sinceMs: number;
}

/** A setting that takes a {@link StoreStatement}: `FINGERPRINT@TIME` or `FINGERPRINT@always`. */
export function storeStatement(base: SettingBase): Setting<StoreStatement> {
  const time = momentOr({ ...base, word: "always" });
  return {
    placeholder: "FINGERPRINT@TIME",
    ...base,
    parse: (value) => {
      const [, fingerprint, since] = /^([0-9a-f]{32})@(.+)$/.exec(value) ?? [];
      if (fingerprint === undefined || since === undefined) {
        throw new SettingError(
          "the fingerprint of the store, as GetInfo and doctor print it, then @ and a time or always",
        );
      }
      const parsed = time.parse(since);
      return { fingerprint, sinceMs: parsed === "always" ? Number.NEGATIVE_INFINITY : parsed };
    },
    format: ({ fingerprint, sinceMs }) =>
      `${fingerprint}@${sinceMs === Number.NEGATIVE_INFINITY ? "always" : new Date(sinceMs).toISOString()}`,
  };
}

/** A setting that takes a moment, or one word in its place. */
export function momentOr<const W extends string>(base: SettingBase & { readonly word: W }): Setting<number | W> {
  const { word, ...rest } = base;
  const instant = moment(rest);
  return {
    ...instant,
    placeholder: `TIME|${word}`,
    parse: (value) => {
      if (value === word) return word;
      try {
        return instant.parse(value);
      } catch (error) {
        if (!(error instanceof SettingError)) throw error;
        throw new SettingError(`${word}, ${error.message}`);
      }
    },
    format: (value) => (value === word ? word : instant.format(value as number)),
  };
}
