/** Names of certificates, in the one spelling by which they are compared: `uri:…`, `dns:…`, `email:…`, `ip:…`. */
import { isIP } from "node:net";

/** The characters that a name may have. No honest name has others, and the file of principals refuses them. */
const namePattern = /^(uri|dns|email|ip):([A-Za-z0-9._:/@*+~-]{1,512})$/;

/** The kinds of names as Node spells them. All other kinds are skipped. */
const kinds: Readonly<Record<string, string>> = { URI: "uri", DNS: "dns", email: "email", "IP Address": "ip" };

/**
 * Gives the spelling by which a name is compared: DNS names in lower-case letters, IP addresses by value, others as
 * they are.
 *
 * @returns undefined if it is not a name.
 */
export function canonicalName(text: string): string | undefined {
  const [, kind, name = ""] = namePattern.exec(text) ?? [];
  if (kind === "dns") return `dns:${name.toLowerCase()}`;
  if (kind !== "ip") return kind === undefined ? undefined : text;
  if (isIP(name) === 4) return text;
  return isIP(name) === 6 ? `ip:${new URL(`http://[${name}]`).hostname.slice(1, -1)}` : undefined;
}

/**
 * Reads the names of a certificate from the text in which Node gives its SAN: `DNS:a, URI:b`. Node writes a value with
 * a comma, a quote or a control character as a JSON string, so that it cannot pass for several names (CVE-2021-44532).
 * Such a value is skipped whole.
 *
 * @returns Names as {@link canonicalName} spells them; none where a part of the text cannot be read.
 */
export function readSubjectAltName(text: string): readonly string[] {
  const names: string[] = [];
  const entry = /([A-Za-z][A-Za-z ]*):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/gy;
  while (entry.lastIndex < text.length) {
    const [, kind, value] = entry.exec(text) ?? [];
    if (kind === undefined) return [];
    const name = Object.hasOwn(kinds, kind) ? canonicalName(`${kinds[kind]}:${value}`) : undefined;
    if (name !== undefined) names.push(name);
  }
  return names;
}
