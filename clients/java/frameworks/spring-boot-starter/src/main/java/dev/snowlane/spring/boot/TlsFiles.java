package dev.snowlane.spring.boot;

import dev.snowlane.client.TlsOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.springframework.core.io.Resource;

/** Reads the PEM files of the properties. */
final class TlsFiles {

  private TlsFiles() {}

  static TlsOptions read(SnowlaneProperties.Tls files) {
    return new TlsOptions(textOf(files.roots()), textOf(files.certificate()), textOf(files.key()));
  }

  private static Optional<String> textOf(Resource file) {
    if (file == null) return Optional.empty();
    try {
      return Optional.of(file.getContentAsString(StandardCharsets.US_ASCII));
    } catch (IOException unreadable) {
      throw new UncheckedIOException("A file of snowlane.tls cannot be read: " + file.getDescription(), unreadable);
    }
  }
}
