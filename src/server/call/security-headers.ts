import type { Fields } from "./envelope/envelope.ts";

/** Sent with every answer that is not gRPC: a browser takes it for nothing but what it is, and tells nobody of it. */
export const securityHeaders = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
} as const;

/** {@link securityHeaders} as fields. */
export const securityFields: Fields = Object.entries(securityHeaders);

/** Whether a content type is that of gRPC, which no browser speaks; gRPC-Web is none. */
export function isGrpcType(contentType: string | null): boolean {
  return contentType !== null && /^application\/grpc(?:[+;]|$)/.test(contentType);
}
