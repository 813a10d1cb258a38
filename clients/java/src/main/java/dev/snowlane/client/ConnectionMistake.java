package dev.snowlane.client;

import java.io.FileNotFoundException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A mistake that shows when a connection is made. docs/internals/client-contract.md has the table of all clients. */
enum ConnectionMistake {
  REFUSED("refused", "The connection was refused: no server listens there."),
  NO_SOCKET("refused", "There is no such socket: no server listens there."),
  NO_ADDRESS("no_address", "The host name has no address."),
  NOT_TLS("not_tls", "The server does not speak TLS: begin the endpoint with http://."),
  NOT_GRPC("not_grpc", "Something other than a gRPC server answers there."),
  UNTRUSTED(
      "untrusted",
      "The certificate of the server is not trusted: give the option tls the authority that signed it."),
  WRONG_HOST(
      "wrong_host",
      "The certificate of the server is for another host: correct the endpoint, or the option tls."),
  EXPIRED("expired", "The certificate of the server has expired, or is not valid yet."),
  NEEDS_CERTIFICATE(
      "needs_certificate",
      "The server requires a client certificate that it trusts: give the option tls one with its key."),
  CLOSED(
      "closed",
      "The connection was closed before any answer: if the server speaks TLS, begin the endpoint with https://.");

  /** An alert of TLS that a server sends to a client without a certificate, or with one that it does not trust. */
  private static final Pattern ALERT_OF_CERTIFICATE =
      Pattern.compile("(?i)alert.*(certificate[ _]required|bad[ _]certificate|certificate[ _](unknown|expired))");

  /** The hexadecimal digits in gRPC's message if the first bytes are of another protocol: those of "HTTP", */
  private static final Pattern HTTP_BYTES = Pattern.compile("Hex dump for first 5 bytes: 48545450|Unexpected HTTP/1");

  /** and those of a TLS alert; or the message if there were no bytes. */
  private static final Pattern ENDED =
      Pattern.compile("Hex dump for first 5 bytes: 1503|Network closed for unknown reason");

  private static final Pattern WITHOUT_HTTP2 = Pattern.compile("Failed ALPN negotiation");

  private final String kind;
  private final String text;

  ConnectionMistake(String kind, String text) {
    this.kind = kind;
    this.text = text;
  }

  /** Its name in the metadata of an error. */
  String kind() {
    return kind;
  }

  /** The text that a user reads. */
  String text() {
    return text;
  }

  /** Whether an error of this kind says that no Snowlane server is there, or none that speaks as the client expects. */
  static boolean isFinal(@Nullable String kind) {
    // A balancer without a server closes its connections, too.
    return kind != null && !kind.equals(CLOSED.kind);
  }

  /**
   * The mistake that made a call fail.
   *
   * @param cause of the status
   * @param description of the status
   */
  static Optional<ConnectionMistake> of(@Nullable Throwable cause, String description) {
    Optional<ConnectionMistake> found = ofText(description);
    for (Throwable each = cause; each != null && found.isEmpty(); each = each.getCause()) {
      found = ofType(each);
      if (found.isEmpty() && each.getMessage() != null) found = ofText(each.getMessage());
    }
    return found;
  }

  private static Optional<ConnectionMistake> ofType(Throwable error) {
    // Netty is shaded in one build of grpc-java and not in the other, so its exceptions are recognized only by name.
    String name = error.getClass().getSimpleName();
    if (error instanceof UnknownHostException || error instanceof UnresolvedAddressException) {
      return Optional.of(NO_ADDRESS);
    }
    if (error instanceof FileNotFoundException) return Optional.of(NO_SOCKET);
    // Netty's own exception for a connection that took too long is a ConnectException too.
    if (error instanceof ConnectException && !name.endsWith("TimeoutException")) return Optional.of(REFUSED);
    if (name.equals("NotSslRecordException")) return Optional.of(NOT_TLS);
    if (error instanceof CertPathBuilderException) return Optional.of(UNTRUSTED);
    if (error instanceof CertPathValidatorException path && path.getCause() == null) return Optional.of(UNTRUSTED);
    if (error instanceof CertificateExpiredException || error instanceof CertificateNotYetValidException) {
      return Optional.of(EXPIRED);
    }
    // A validator's exception has the reason as its cause.
    boolean isOfHost = error instanceof CertificateException && error.getCause() == null;
    return isOfHost ? Optional.of(WRONG_HOST) : Optional.empty();
  }

  private static Optional<ConnectionMistake> ofText(String text) {
    if (HTTP_BYTES.matcher(text).find() || WITHOUT_HTTP2.matcher(text).find()) return Optional.of(NOT_GRPC);
    if (ENDED.matcher(text).find()) return Optional.of(CLOSED);
    return ALERT_OF_CERTIFICATE.matcher(text).find() ? Optional.of(NEEDS_CERTIFICATE) : Optional.empty();
  }
}
