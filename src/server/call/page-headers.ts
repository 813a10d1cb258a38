import { securityHeaders } from "./security-headers.ts";

/**
 * The policy of the page: scripts, styles, pictures and calls of its own origin alone, no frame around it, and no text
 * that becomes markup except by the templates of lit-html.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types lit-html",
].join("; ");

/** Sent with every answer about the page, refusals included. */
export const pageHeaders: Readonly<Record<string, string>> = {
  ...securityHeaders,
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

/** The encodings that each file of the page stands in, the best first. */
const encodings = ["br", "gzip", "identity"] as const;

/** One of {@link encodings}. */
export type PageEncoding = (typeof encodings)[number];

/**
 * Chooses the encoding of an answer by its `accept-encoding` (RFC 9110 section 12.5.3): the one with the highest
 * weight, among equals the smallest.
 *
 * Gives `identity` also where the caller accepts nothing that there is: a page that can be read is worth more than 406.
 */
export function chooseEncoding(acceptEncoding: string | null): PageEncoding {
  const weights = new Map<string, number>();
  for (const part of (acceptEncoding ?? "").split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const weight = parameters.find((text) => text.startsWith("q="))?.slice(2) ?? "1";
    if (name !== "") weights.set(name, /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0);
  }
  const weightOf = (encoding: PageEncoding): number =>
    weights.get(encoding) ?? weights.get("*") ?? (encoding === "identity" ? 0.0001 : 0);
  const [best] = encodings.toSorted((a, b) => weightOf(b) - weightOf(a));
  return best !== undefined && weightOf(best) > 0 ? best : "identity";
}

/** Whether an `if-none-match` names an entity tag; compared weakly, as RFC 9110 section 13.1.2 demands. */
export function matchesTag(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.split(",").some((text) => text.trim() === "*" || text.trim().replace(/^W\//, "") === tag);
}
