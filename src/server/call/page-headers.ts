import { securityHeaders } from "./security-headers.ts";

/**
 * The policy of the page: scripts, styles, pictures and calls of its own origin alone, no frame around it, no text that
 * becomes markup except by the templates of lit-html, and no worker but those that `snowlane-worker` passes
 * (web/proof/simulation-worker.ts).
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types lit-html snowlane-worker",
].join("; ");

const pageHeaders: Readonly<Record<string, string>> = {
  ...securityHeaders,
  "content-security-policy": contentSecurityPolicy,
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

const isolatedHeaders = { ...pageHeaders, "cross-origin-opener-policy": "same-origin" };

/**
 * The headers of every answer about the page, refusals included.
 *
 * Browsers heed an opener policy on trustworthy origins alone, which are those of TLS and of this machine, and Chromium
 * writes an error on the console where it ignores one. To these origins alone they send `sec-fetch-site` (W3C, Fetch
 * Metadata, section 2). So that field decides: it is also right where a proxy in front of the server speaks TLS.
 */
export function pageHeadersFor(request: Headers): Readonly<Record<string, string>> {
  return request.has("sec-fetch-site") ? isolatedHeaders : pageHeaders;
}

/** The encodings in which each file of the page exists, the best first. */
const encodings = ["br", "gzip", "identity"] as const;

/** One of {@link encodings}. */
export type PageEncoding = (typeof encodings)[number];

/**
 * Chooses the encoding of an answer by its `accept-encoding` (RFC 9110 section 12.5.3): the one with the highest
 * weight, among equals the smallest.
 *
 * Also gives `identity` where the caller accepts none of the encodings: a page that can be read is worth more than 406.
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
