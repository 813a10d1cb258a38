import { schemeOf, storeKindOf } from "../store/store-kind.ts";
import { type Setting, SettingError } from "./setting.ts";
import { type SettingBase, text } from "./setting-kinds.ts";

const spellings =
  "sqlite:PATH, or a URL that begins with postgres://, mysql://, redis://, etcd://, zookeeper:// or kubernetes://";

/**
 * The right spelling for one that another library has, such as SQLAlchemy's `sqlite:///ids.db` and
 * `postgresql+psycopg://`; undefined for all others. As a path, `//ids.db` would be in the root folder.
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
      const kind = storeKindOf(value);
      const isSpelled = kind === "sqlite" ? !value.endsWith(":") : /^[a-z]+:\/\//.test(value);
      if (kind === undefined || !isSpelled) throw new SettingError(spellings);
      return value;
    },
    redact: redactUrl,
  };
}

const host = String.raw`(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?`;
/** Scheme, user, password, hosts with path, query. */
const soundUrl = new RegExp(
  String.raw`^([a-z][a-z0-9+]*://)(?:([^:@/?#]*)(:.*)?@)?((?:${host}(?:,${host})*)?(?:/[^?#@:%]*)?)(\?\w+=[^&#@]*(?:&\w+=[^&#@]*)*)?$`,
  "i",
);
/** Replaces what is not shown. A text that was hidden once stays as it is. */
const hidden = "***";
/** A word or a path, which has no parts of which one could be a password. */
const plainText = /^(?:[\w.-]*|\.{0,2}\/(?!\/)[\w./-]*)$/;

/**
 * A store's URL as it may be logged and printed: without password, and without the values of the query. Of a text that
 * is not a sound URL, only the scheme is shown: its password may be anywhere.
 */
export function redactUrl(url: string): string {
  if (url.startsWith("sqlite:") || plainText.test(url)) return url;
  const [whole, scheme = "", user, password, rest = "", query = ""] = soundUrl.exec(url) ?? [];
  // A password of signs alone is a typing error: the real one is where the host should be.
  const isSlip =
    password !== undefined &&
    password !== `:${hidden}` &&
    (password.includes("?") || !/\w/.test(password.replaceAll(/%\w\w/g, "")));
  // A user with other signs may have a password behind one of them, where that sign should be a colon.
  const isPlainUser = user === undefined || user === hidden || /^[\w.+-]*$/.test(user);
  if (whole === undefined || isSlip || !isPlainUser) {
    return storeKindOf(url) === undefined ? "***" : `${schemeOf(url)}:***`;
  }
  // A user without a password may be both, with a typing error between them.
  const caller = user === undefined ? "" : password === undefined ? "***@" : `${user}:***@`;
  return `${scheme}${caller}${rest}${query.replaceAll(/([?&]\w+)=[^&]*/g, "$1=***")}`;
}

/**
 * A sign of a URL, or of a password: a scheme, `@`, or a colon that is not followed by a port, an address or a time.
 */
const secretSign = /:\/\/|@|%40|:(?!:|\d+Z?\b|$)/;

/** Hides what {@link redactUrl} hides, in a text that is a URL only by mistake; others pass unchanged. */
export function redactStray(text: string): string {
  return secretSign.test(text) ? redactUrl(text) : text;
}

/** Whether a URL has a password, which every user of the machine may read in the list of processes. */
export function hasPassword(url: string): boolean {
  const [, , , password, , query = ""] = soundUrl.exec(url) ?? [];
  return password !== undefined || /[?&]password=/.test(query);
}
