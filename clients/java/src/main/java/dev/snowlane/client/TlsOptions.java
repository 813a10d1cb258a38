package dev.snowlane.client;

import io.grpc.ChannelCredentials;
import io.grpc.TlsChannelCredentials;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The roots to trust, and the client's own certificate.
 *
 * @param roots the root certificates to trust, as PEM; empty: the system's
 * @param certificate this client's, with its chain, as PEM, for mutual TLS; empty: none
 * @param key its private key, as PEM in PKCS 8 ({@code BEGIN PRIVATE KEY})
 */
public record TlsOptions(Optional<String> roots, Optional<String> certificate, Optional<String> key) {

  /** The system's roots, and no certificate. */
  public static final TlsOptions DEFAULTS = new TlsOptions(Optional.empty(), Optional.empty(), Optional.empty());

  /**
   * @throws IllegalArgumentException if there is a certificate without a key, or a key without a certificate
   */
  public TlsOptions {
    if (certificate.isPresent() != key.isPresent()) {
      throw new IllegalArgumentException("A certificate needs its key, and a key its certificate.");
    }
  }

  public TlsOptions withRoots(String pem) {
    return new TlsOptions(Optional.of(pem), certificate, key);
  }

  public TlsOptions withCertificate(String certificatePem, String keyPem) {
    return new TlsOptions(roots, Optional.of(certificatePem), Optional.of(keyPem));
  }

  /** Never shows the key. */
  @Override
  public String toString() {
    return "TlsOptions[roots=" + roots + ", certificate=" + certificate + "]";
  }

  ChannelCredentials credentials() {
    TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
    try {
      if (roots.isPresent()) builder.trustManager(bytesOf(roots.get()));
      if (certificate.isPresent()) builder.keyManager(bytesOf(certificate.get()), bytesOf(key.orElseThrow()));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return builder.build();
  }

  private static InputStream bytesOf(String pem) {
    return new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII));
  }
}
