import { redactUrl } from "../config/store-url.ts";

/** Fields that hold a secret whatever their value is. */
const secretKeys = /^(?:.*token|authorization|(?:.*[-_])?password|passphrase|secret|cookie|headers)$/i;

/**
 * Hides secrets in a value of a log line: fields by their names, and in texts the passwords of URLs, bearer tokens and
 * our own tokens. It is better to hide too much than too little.
 */
export function redactField(key: string, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  if (secretKeys.test(key)) return "***";
  return typeof value === "string" ? redactText(value) : value;
}

/** Hides the secrets in a text, wherever they are in it. */
function redactText(text: string): string {
  if (!/:\/\/|bearer|snw_/i.test(text)) return text;
  return (
    text
      // The punctuation after it is kept, because it belongs to the sentence.
      .replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]*[^\s"'<>).,:;]/gi, (url) => redactUrl(url))
      .replaceAll(/\b(bearer +)[^\s"',]+/gi, "$1***")
      .replaceAll(/\bsnw_[\w-]+/g, "snw_***")
  );
}
