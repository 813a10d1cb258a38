import { sequenceSchemes, sequenceStoreKindOf } from "../sequence/open-sequence-store.ts";
import { type Setting, SettingError, withFallback } from "./setting.ts";
import { duration, integer, type SettingBase, text } from "./setting-kinds.ts";
import { redactUrl } from "./store-url.ts";

/** The most databases that share the values of sequences. */
const stripeCountMax = 64;

/** The URLs of `--sequence-stores`. The path of a file may not contain a blank. */
export function urlsOf(sequenceStores: string): readonly string[] {
  return sequenceStores.trim().split(/\s+/);
}

/** A setting that takes the URLs of the databases that keep sequences, separated by spaces, or `off`. */
function sequenceStores(base: SettingBase): Setting<string> {
  return {
    ...text({ ...base, placeholder: "URLS" }),
    parse: (value) => {
      if (value === "off") return value;
      const urls = urlsOf(value);
      const areGood = urls.every((url) => sequenceStoreKindOf(url) !== undefined && !url.endsWith(":"));
      if (!areGood || urls.length === 0 || urls.length > stripeCountMax) {
        throw new SettingError(
          `off, or 1 to ${stripeCountMax} URLs separated by spaces, which begin with ${sequenceSchemes.join(", ")}`,
        );
      }
      // URLs are compared only as texts: two names of one database are found when it is opened.
      if (new Set(urls).size < urls.length) throw new SettingError("URLs that all differ");
      return urls.join(" ");
    },
    redact: (value) => value.split(" ").map(redactUrl).join(" "),
  };
}

/** Where sequences are kept: for the server, and for every command that works on them. */
export const sequenceStoreSettings = {
  sequenceStores: sequenceStores({
    name: "sequenceStores",
    doc:
      "The database that keeps sequences: sqlite:PATH (the file is PATH.sequences), postgres://..., mysql://... or mariadb://.... " +
      "Several, separated by spaces, share the values of each sequence: while one is down, the others give values. " +
      "off: this server has none. It is opened with the first call for a sequence. " +
      "Default: the worker store, where that is such a database; otherwise off.",
  }),
  sequenceStripes: integer({
    name: "sequenceStripes",
    min: 1,
    max: stripeCountMax,
    doc:
      "How many databases can ever share the values of sequences. It is fixed when the first one is made; give it then if you may add " +
      "databases later. Default: the number of URLs in --sequence-stores.",
  }),
};

/** The settings of sequences of a server. */
export const sequenceSettings = {
  ...sequenceStoreSettings,
  sequenceStoreTimeoutMs: withFallback(
    duration({
      name: "sequenceStoreTimeout",
      minMs: 100,
      maxMs: 60_000,
      doc: "The longest time of one call to the database of sequences. Values that are in memory are handed out meanwhile.",
    }),
    2_000,
  ),
  sequenceConnections: withFallback(
    integer({
      name: "sequenceConnections",
      min: 1,
      max: 64,
      doc:
        "The most connections to a remote database of sequences. Each does one call at a time, and a call goes to the one with the " +
        "least to do. No connection is opened before the first call for a sequence.",
    }),
    4,
  ),
  sequencesInMemory: withFallback(
    integer({
      name: "sequencesInMemory",
      min: 1,
      max: 1_000_000,
      doc:
        "The most sequences in memory, of about 2 KB each. Beyond it, the one that was used longest ago gives its values back, and is " +
        "read again when it is called for.",
    }),
    10_000,
  ),
};
