/** Kinds of mistakes that show when a connection is made, in an error's metadata as `connection`. */
export type ConnectionMistake =
  | "refused"
  | "no_address"
  | "not_tls"
  | "not_grpc"
  | "untrusted"
  | "wrong_host"
  | "expired"
  | "needs_certificate"
  | "closed";

/** The text of each one. docs/internals/client-contract.md has the table of all clients. */
export const mistakeTexts: Readonly<Record<ConnectionMistake, string>> = {
  refused: "The connection was refused: no server listens there.",
  no_address: "The host name has no address.",
  not_tls: "The server does not speak TLS: begin the endpoint with http://.",
  not_grpc: "Something other than a gRPC server answers there.",
  untrusted: "The certificate of the server is not trusted: give the option tls the authority that signed it.",
  wrong_host: "The certificate of the server is for another host: correct the endpoint, or the option tls.",
  expired: "The certificate of the server has expired, or is not valid yet.",
  needs_certificate: "The server requires a client certificate that it trusts: give the option tls one with its key.",
  closed: "The connection was closed before any answer: if the server speaks TLS, begin the endpoint with https://.",
};

/** The codes by which Node, OpenSSL and the transport report them. */
const byCode: Readonly<Record<string, ConnectionMistake>> = {
  NOT_GRPC: "not_grpc",
  CLOSED_FIRST: "closed",
  ECONNREFUSED: "refused",
  ENOENT: "refused",
  ENOTFOUND: "no_address",
  EAI_AGAIN: "no_address",
  ERR_SSL_WRONG_VERSION_NUMBER: "not_tls",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "not_tls",
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: "not_grpc",
  ERR_TLS_CERT_ALTNAME_INVALID: "wrong_host",
  CERT_HAS_EXPIRED: "expired",
  CERT_NOT_YET_VALID: "expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "untrusted",
  SELF_SIGNED_CERT_IN_CHAIN: "untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "untrusted",
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: "needs_certificate",
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: "needs_certificate",
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: "needs_certificate",
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: "needs_certificate",
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: "needs_certificate",
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: "needs_certificate",
};

/** Finds the mistake among the causes of an error; undefined if there is none. */
export function mistakeOf(error: Error): ConnectionMistake | undefined {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const mistake = "code" in cause ? byCode[String(cause.code)] : undefined;
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}
