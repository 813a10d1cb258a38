/**
 * A header field, and what it means for a request: RFC 7541 section 4.1, RFC 9113 sections 8.2 and 8.3.
 *
 * The meaning is HTTP/2's and not HPACK's. It is kept here because a field that stays in a table keeps its meaning.
 */

/** The meaning of a field for a request; `malformed` if no request may carry it. */
export type FieldKind = "regular" | "method" | "scheme" | "path" | "authority" | "host" | "contentLength" | "malformed";

/** A token without upper case: sections 8.2 and 8.2.1, RFC 9110 section 5.6.2. */
const lowerCaseToken = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** NUL, CR and LF anywhere, blanks at either end: section 8.2.1. */
// oxlint-disable-next-line no-control-regex -- these control characters are what is looked for
const forbiddenInValue = /[\0\r\n]|^[ \t]|[ \t]$/;
/** Fifteen digits stay below 2^53. */
const wholeNumber = /^\d{1,15}$/;
const anything = /^/;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const scheme = /^[A-Za-z][A-Za-z0-9+.-]*$/;
/** A path, or the asterisk of OPTIONS; without blanks, fragments and controls: section 8.3.1. */
// oxlint-disable-next-line no-control-regex -- these control characters are what is looked for
const path = /^(?:\/[^\0-\x20#\x7f]*|\*)$/;
/** No user information (section 8.3.1), nothing that ends an authority. */
// oxlint-disable-next-line no-control-regex -- these control characters are what is looked for
const authority = /^[^\0-\x20/?#@\\\x7f]*$/;

/** The names that this engine acts on, and the values that each may have. */
const meanings: ReadonlyMap<string, readonly [kind: FieldKind, values: RegExp]> = new Map<
  string,
  readonly [FieldKind, RegExp]
>([
  [":method", ["method", token]],
  [":scheme", ["scheme", scheme]],
  [":path", ["path", path]],
  [":authority", ["authority", authority]],
  ["host", ["host", authority]],
  ["content-length", ["contentLength", wholeNumber]],
  ["te", ["regular", /^trailers$/]],
  // Fields of HTTP/1.1 about the connection are forbidden in HTTP/2: section 8.2.2.
  ["connection", ["malformed", anything]],
  ["keep-alive", ["malformed", anything]],
  ["proxy-connection", ["malformed", anything]],
  ["transfer-encoding", ["malformed", anything]],
  ["upgrade", ["malformed", anything]],
]);

/**
 * A header field as it was received. Its kind is computed once, at its first use: entries of the compression tables are
 * used many times, and fields beyond the limit never.
 *
 * Name and value hold one character for each byte, 0 to 255.
 */
export class Field {
  readonly name: string;
  readonly value: string;
  /** Its size in a table and in a list: RFC 7541 section 4.1. */
  readonly sizeBytes: number;
  #kind: FieldKind | undefined;

  constructor(name: string, value: string) {
    this.name = name;
    this.value = value;
    this.sizeBytes = name.length + value.length + 32;
  }

  get kind(): FieldKind {
    return (this.#kind ??= judge(this.name, this.value));
  }
}

function judge(name: string, value: string): FieldKind {
  if (forbiddenInValue.test(value)) return "malformed";
  const meaning = meanings.get(name);
  if (meaning === undefined) return lowerCaseToken.test(name) ? "regular" : "malformed";
  const [kind, values] = meaning;
  return values.test(value) ? kind : "malformed";
}

/** The kind of message that a header block belongs to. */
export type MessageKind = "request" | "response";

const pseudoNames: Readonly<Record<MessageKind, RegExp>> = {
  request: /^:(?:method|scheme|path|authority)$/,
  response: /^:status$/,
};

/** Whether a field may be sent: a lower-case name, a value of bytes without NUL, CR, LF and outer blanks. */
export function isSendable(name: string, value: string, of: MessageKind = "response"): boolean {
  return (lowerCaseToken.test(name) || pseudoNames[of].test(name)) && !forbiddenInValue.test(value) && isBytes(value);
}

function isBytes(value: string): boolean {
  for (let index = 0; index < value.length; index++) if (value.charCodeAt(index) > 0xff) return false;
  return true;
}
