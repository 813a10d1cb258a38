/**
 * A header block that cannot be decoded, or whose decoding was given up. The tables of both ends may differ from now
 * on, so the whole connection must end with COMPRESSION_ERROR: RFC 7541 section 2.2, RFC 9113 section 4.3.
 */
export class CompressionError extends Error {
  override readonly name = "CompressionError";
}
