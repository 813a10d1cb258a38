import { sequenceSchemes, sequenceStoreKindOf } from "../sequence/open-sequence-store.ts";
import { type Setting, SettingError, withFallback } from "./setting.ts";
import { duration, integer, type SettingBase, text } from "./setting-kinds.ts";
import { redactUrl } from "./store-url.ts";

/** A setting that takes the URL of a database that keeps sequences, or `off`. */
function sequenceStores(base: SettingBase): Setting<string> {
  return {
    ...text({ ...base, placeholder: "URL" }),
    parse: (value) => {
      if (value === "off") return value;
      if (/\s/.test(value.trim())) throw new SettingError("one URL: values from several databases are not served yet");
      if (sequenceStoreKindOf(value) === undefined || value.endsWith(":")) {
        throw new SettingError(`off, or a URL that begins with ${sequenceSchemes.join(", ")}`);
      }
      return value;
    },
    redact: redactUrl,
  };
}

/** Where sequences are kept: for the server, and for every command that works on them. */
export const sequenceStoreSettings = {
  sequenceStores: sequenceStores({
    name: "sequenceStores",
    doc:
      "The database that keeps sequences: sqlite:PATH (the file is PATH.sequences), postgres://..., mysql://... or mariadb://.... " +
      "off: this server has none. It is opened with the first call for a sequence. " +
      "Default: the worker store, where that is such a database; otherwise off.",
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
        "least to do. Nothing is connected to before the first call for a sequence.",
    }),
    4,
  ),
  sequencesInMemory: withFallback(
    integer({
      name: "sequencesInMemory",
      min: 1,
      max: 1_000_000,
      doc:
        "The most sequences in memory, of about 2 KB each. Beyond it the one that took values longest ago gives them back, and is " +
        "read again when it is called for.",
    }),
    10_000,
  ),
};
