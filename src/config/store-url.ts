import { type Setting, SettingError } from "./setting.ts";
import { type SettingBase, text } from "./setting-kinds.ts";

/** The kinds of store that a URL can name. */
const storeKinds = ["sqlite", "postgres", "mysql", "redis", "etcd", "zookeeper", "kubernetes"] as const;

/** One of {@link storeKinds}. */
type StoreKind = (typeof storeKinds)[number];

/** Other spellings of a scheme, as other programs write them. */
const aliases: Readonly<Record<string, StoreKind>> = { postgresql: "postgres", mariadb: "mysql", rediss: "redis" };

/** A setting that takes the URL of a store. */
export function storeUrl(base: SettingBase): Setting<string> {
  return {
    ...text({ ...base, placeholder: "URL" }),
    parse: (value) => {
      if (storeKind(value) === undefined || value.endsWith(":")) {
        throw new SettingError(
          "sqlite:PATH, or a URL that begins with postgres://, mysql://, redis://, etcd://, zookeeper:// or kubernetes://",
        );
      }
      return value;
    },
    redact: redactUrl,
  };
}

/** The kind of store that a URL names, undefined if none. */
export function storeKind(url: string): StoreKind | undefined {
  const scheme = /^([a-z]+):/.exec(url)?.[1] ?? "";
  return aliases[scheme] ?? storeKinds.find((kind) => kind === scheme);
}

/** A store's URL as it may be logged and printed: without password, and without the values of query parameters. */
export function redactUrl(url: string): string {
  if (url.startsWith("sqlite:")) return url;
  // Up to the last @, because a password may hold / and @ unescaped: rather too much is hidden than too little.
  return url.replace(/^([a-z]+:\/\/[^:@]*):.*@/, "$1:***@").replaceAll(/([?&][^=&#]+)=[^&#]*/g, "$1=***");
}
