import { storeKindOf } from "../store/store-kind.ts";
import { type Setting, SettingError } from "./setting.ts";
import { type SettingBase, text } from "./setting-kinds.ts";

const spellings =
  "sqlite:PATH, or a URL that begins with postgres://, mysql://, redis://, etcd://, zookeeper:// or kubernetes://";

/**
 * The right spelling for one that another library has, such as SQLAlchemy's `sqlite:///ids.db` and
 * `postgresql+psycopg://`; undefined for all others. As a path, `//ids.db` would lie in the root folder.
 */
function guessOf(url: string): string | undefined {
  if (url.startsWith("sqlite://")) return "sqlite:PATH, such as sqlite:ids.db or sqlite:/var/lib/snowlane/ids.db";
  const scheme = /^([a-z]+)(?:\+[a-z0-9]+|ql|db)?:\/\//.exec(url)?.[1];
  const kind = scheme === undefined || storeKindOf(url) !== undefined ? undefined : storeKindOf(`${scheme}:`);
  return kind === undefined ? undefined : `a URL that begins with ${kind}://`;
}

/** A setting that takes the URL of a store. */
export function storeUrl(base: SettingBase): Setting<string> {
  return {
    ...text({ ...base, placeholder: "URL" }),
    parse: (value) => {
      const guess = guessOf(value);
      if (guess !== undefined) throw new SettingError(guess);
      if (storeKindOf(value) === undefined || value.endsWith(":")) throw new SettingError(spellings);
      return value;
    },
    redact: redactUrl,
  };
}

/** A store's URL as it may be logged and printed: without password, and without the values of query parameters. */
export function redactUrl(url: string): string {
  if (url.startsWith("sqlite:")) return url;
  // Up to the last @, because a password may hold / and @ unescaped: it is better to hide too much than too little.
  return url.replace(/^([a-z]+:\/\/[^:@]*):.*@/, "$1:***@").replaceAll(/([?&][^=&#]+)=[^&#]*/g, "$1=***");
}

/** Hides what {@link redactUrl} hides, in a text that is a URL only by mistake; others pass unchanged. */
export function redactStray(text: string): string {
  return text.includes("://") ? redactUrl(text) : text;
}
