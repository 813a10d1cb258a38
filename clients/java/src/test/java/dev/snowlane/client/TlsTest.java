package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.grpc.TlsServerCredentials;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
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
    keytool(
        "-alias", "past", "-dname", "CN=past", "-signer", "authority", "-ext", "san=ip:127.0.0.1",
        "-startdate", "-3d", "-validity", "1");
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
    return start("server", clientAuth);
  }

  private static ScriptedServer start(String alias, TlsServerCredentials.ClientAuth clientAuth) throws Exception {
    return new ScriptedServer(
        TlsServerCredentials.newBuilder()
            .keyManager(bytes(certificate(alias)), bytes(key(alias)))
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

  private void expectMistake(String kind, String text, String endpoint, TlsOptions tls) {
    try (IdClient client = IdClient.builder().endpoints(endpoint).tls(tls).timeout(Duration.ofSeconds(60)).build();
        PrefetchBuffer buffer = client.prefetch()) {
      for (Executable call : List.<Executable>of(client::nextId, buffer::nextId)) {
        SnowlaneException error = assertThrows(SnowlaneException.class, call);
        assertEquals(kind, error.metadata().get("connection"), () -> error + " by " + error.getCause().getCause());
        assertEquals("never", error.metadata().get("answered"));
        assertTrue(error.getMessage().contains(text), error::toString);
        assertFalse(error.getMessage().contains("snowlane serve"), error::toString);
        assertFalse(error.passes());
      }
    }
  }

  private static String byName(ScriptedServer server) {
    return server.url().replace("127.0.0.1", "localhost");
  }

  @Test
  void aMistakeOfTheConnectionFailsAtOnceAndSaysWhatToCorrect() throws Exception {
    TlsOptions trusting = TlsOptions.DEFAULTS.withRoots(certificate("authority"));
    HttpServer web = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    web.start();
    try (ScriptedServer plain = new ScriptedServer();
        ScriptedServer right = start("server", TlsServerCredentials.ClientAuth.NONE);
        ScriptedServer past = start("past", TlsServerCredentials.ClientAuth.NONE);
        ScriptedServer mutual = start("server", TlsServerCredentials.ClientAuth.REQUIRE)) {
      expectMistake("not_tls", "begin the endpoint with http://", plain.url().replace("http:", "https:"), trusting);
      String webUrl = "http://127.0.0.1:" + web.getAddress().getPort();
      expectMistake("not_grpc", "Something other than a gRPC server", webUrl, trusting);
      expectMistake("untrusted", "is not trusted", right.url(), TlsOptions.DEFAULTS);
      expectMistake("wrong_host", "for another host", byName(right), trusting);
      expectMistake("expired", "has expired", past.url(), trusting);
      expectMistake("needs_certificate", "requires a client certificate", mutual.url(), trusting);
      // A balancer without a server does the same, so that this one is tried again.
      IdClientBuilder withoutTls = IdClient.builder().endpoints(right.url().replace("https:", "http:"));
      try (IdClient client = withoutTls.build()) {
        SnowlaneException error = assertThrows(SnowlaneException.class, client::nextId);
        assertEquals("closed", error.metadata().get("connection"), () -> error + " by " + error.getCause());
        assertTrue(error.getMessage().contains("begin the endpoint with https://") && error.passes(), error::toString);
      }
    } finally {
      web.stop(0);
    }
  }

  @Test
  void certificatesMayChangeWhileAClientRuns() throws Exception {
    TlsOptions trusting = TlsOptions.DEFAULTS.withRoots(certificate("authority"));
    AtomicReference<TlsOptions> current = new AtomicReference<>(trusting);
    try (ScriptedServer server = start(TlsServerCredentials.ClientAuth.REQUIRE);
        IdClient client =
            IdClient.builder().endpoints(server.url()).tls(current::get).timeout(Duration.ofSeconds(60)).build()) {
      assertThrows(SnowlaneException.class, client::nextId);
      current.set(trusting.withCertificate(certificate("client"), key("client")));
      assertEquals(1, client.nextId());
      // A stream has a connection of its own.
      assertEquals(2, client.stream(1).next()[0]);
    }
  }

  @Test
  void theKeyIsNotShown() throws Exception {
    TlsOptions options = TlsOptions.DEFAULTS.withCertificate(certificate("client"), key("client"));
    String secret = Arrays.stream(key("client").split("\n")).skip(1).findFirst().orElseThrow();
    assertTrue(!options.toString().contains(secret) && options.toString().contains("certificate"));
  }
}
