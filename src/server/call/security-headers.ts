import type { Fields } from "./envelope/envelope.ts";

/**
 * Sent with every answer that is not gRPC: stops browsers from guessing another content type, embedding it on other
 * sites, and sending a Referer.
 */
export const securityHeaders = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
} as const;

/** {@link securityHeaders} as fields. */
export const securityFields: Fields = Object.entries(securityHeaders);

/** Whether a content type is that of gRPC, which no browser speaks; gRPC-Web does not count. */
export function isGrpcType(contentType: string | null): boolean {
  return contentType !== null && /^application\/grpc(?:[+;]|$)/.test(contentType);
}
