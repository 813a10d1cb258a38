package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.TlsServerCredentials;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** With certificates of an authority that the test makes. */
@Timeout(180)
class TlsTest {

  private static final String PASSWORD = "not a secret";

  @TempDir static Path folder;
  private static KeyStore store;

  @BeforeAll
  static void makeCertificates() throws Exception {
    keytool("-alias", "authority", "-dname", "CN=authority", "-ext", "bc:c=ca:true");
    keytool("-alias", "server", "-dname", "CN=server", "-signer", "authority", "-ext", "san=ip:127.0.0.1");
    keytool("-alias", "client", "-dname", "CN=client", "-signer", "authority");
    store = KeyStore.getInstance(folder.resolve("store.p12").toFile(), PASSWORD.toCharArray());
  }

  private static void keytool(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-genkeypair", "-keyalg", "EC", "-storetype", "PKCS12"));
    command.addAll(List.of("-storepass", PASSWORD));
    command.addAll(List.of("-keystore", folder.resolve("store.p12").toString(), "-startdate", "-1d"));
    command.addAll(List.of(arguments));
    Path output = folder.resolve("keytool.txt");
    Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
    if (!process.waitFor(120, TimeUnit.SECONDS) || process.exitValue() != 0) {
      throw new IOException("keytool: " + Files.readString(output));
    }
  }

  private static String pem(String type, byte[] content) {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    return "-----BEGIN " + type + "-----\n" + text + "\n-----END " + type + "-----\n";
  }

  private static String certificate(String alias) throws Exception {
    StringBuilder chain = new StringBuilder();
    for (Certificate link : store.getCertificateChain(alias)) chain.append(pem("CERTIFICATE", link.getEncoded()));
    return chain.toString();
  }

  private static String key(String alias) throws Exception {
    return pem("PRIVATE KEY", store.getKey(alias, PASSWORD.toCharArray()).getEncoded());
  }

  private static InputStream bytes(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static ScriptedServer start(TlsServerCredentials.ClientAuth clientAuth) throws Exception {
    return new ScriptedServer(
        TlsServerCredentials.newBuilder()
            .keyManager(bytes(certificate("server")), bytes(key("server")))
            .trustManager(bytes(certificate("authority")))
            .clientAuth(clientAuth)
            .build());
  }

  private static IdClient connect(ScriptedServer server, TlsOptions tls) {
    Duration patience = Duration.ofSeconds(60);
    return IdClient.builder().endpoints(server.url()).tls(tls).timeout(patience).attemptTimeout(patience).build();
  }

  @Test
  void theAuthorityOfTheOptionsIsTrustedAndNoOther() throws Exception {
    TlsOptions trusting = TlsOptions.DEFAULTS.withRoots(certificate("authority"));
    try (ScriptedServer server = start(TlsServerCredentials.ClientAuth.NONE);
        IdClient client = connect(server, trusting);
        IdClient stranger = connect(server, TlsOptions.DEFAULTS)) {
      assertEquals(1, client.nextId());
      assertEquals(2, client.prefetch().nextId());
      SnowlaneException error = assertThrows(SnowlaneException.class, stranger::nextId);
      assertEquals(ErrorReason.UNREACHABLE, error.reason());
    }
  }

  @Test
  void aServerThatAsksForACertificateGetsIt() throws Exception {
    TlsOptions trusting = TlsOptions.DEFAULTS.withRoots(certificate("authority"));
    TlsOptions known = trusting.withCertificate(certificate("client"), key("client"));
    try (ScriptedServer server = start(TlsServerCredentials.ClientAuth.REQUIRE);
        IdClient client = connect(server, known);
        IdClient stranger = connect(server, trusting)) {
      assertEquals(1, client.nextId());
      assertThrows(SnowlaneException.class, stranger::nextId);
      assertEquals(1, server.calls.get());
    }
  }

  @Test
  void theKeyIsNotShown() throws Exception {
    TlsOptions options = TlsOptions.DEFAULTS.withCertificate(certificate("client"), key("client"));
    String secret = Arrays.stream(key("client").split("\n")).skip(1).findFirst().orElseThrow();
    assertTrue(!options.toString().contains(secret) && options.toString().contains("certificate"));
  }
}
