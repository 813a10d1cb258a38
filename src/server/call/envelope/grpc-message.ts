const messageField = "grpc-message";

/**
 * Encodes the message of a gRPC status as the protocol asks: only control characters, percent signs and characters
 * beyond ASCII are percent-encoded (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses), and
 * spaces at the ends, which HTTP drops. Connect encodes more, as for a URL; grpc-js does not decode all of that, and
 * showed `%3A` for a colon.
 *
 * @param fields - Changed in place.
 */
export function encodeMessageField(fields: Headers): Headers {
  const encoded = fields.get(messageField);
  if (encoded !== null) fields.set(messageField, encodeMessage(decodeURIComponent(encoded)));
  return fields;
}

/** Percent-encodes a message as {@link encodeMessageField} says. */
export function encodeMessage(message: string): string {
  return message
    .replaceAll(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent)
    .replaceAll(/^ +| +$/g, (spaces) => "%20".repeat(spaces.length));
}
