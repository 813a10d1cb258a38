import { storeKindOf } from "../store/store-kind.ts";
import { type Setting, SettingError } from "./setting.ts";
import { type SettingBase, text } from "./setting-kinds.ts";

/** A setting that takes the URL of a store. */
export function storeUrl(base: SettingBase): Setting<string> {
  return {
    ...text({ ...base, placeholder: "URL" }),
    parse: (value) => {
      if (storeKindOf(value) === undefined || value.endsWith(":")) {
        throw new SettingError(
          "sqlite:PATH, or a URL that begins with postgres://, mysql://, redis://, etcd://, zookeeper:// or kubernetes://",
        );
      }
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
