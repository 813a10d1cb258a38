package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** The options of a client, and their effects. */
@Timeout(180)
class OptionsTest {

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final ScriptedServer server = open(new ScriptedServer());

  @AfterEach
  void close() throws Exception {
    // The clients first: they were opened last.
    for (int i = opened.size() - 1; i >= 0; i--) opened.get(i).close();
  }

  private <T extends AutoCloseable> T open(T resource) {
    opened.add(resource);
    return resource;
  }

  private IdClientBuilder patient() {
    return IdClient.builder()
        .endpoints(server.url())
        .timeout(Duration.ofSeconds(60))
        .attemptTimeout(Duration.ofSeconds(30));
  }

  @Test
  void wrongOptionsAreRefusedAllTogether() {
    List<IdClientBuilder> wrong =
        List.of(
            IdClient.builder().endpoints(),
            IdClient.builder().endpoints("ftp://a"),
            IdClient.builder().endpoints("http://"),
            IdClient.builder().endpoints("a:80"),
            IdClient.builder().endpoints("http://a/path"),
            IdClient.builder().endpoints("http://a:99999"),
            IdClient.builder().endpoints("http://a:0"),
            IdClient.builder().endpoints(""),
            IdClient.builder().endpoints("http://a b"),
            IdClient.builder().retryMax(4),
            IdClient.builder().retryMax(-1),
            IdClient.builder().timeout(Duration.ZERO),
            IdClient.builder().attemptTimeout(Duration.ofMillis(-1)),
            IdClient.builder().tls(TlsOptions.DEFAULTS.withRoots("no PEM")).endpoints("https://a"),
            IdClient.builder().tls(TlsOptions.DEFAULTS.withCertificate("no", "PEM")).endpoints("https://a"),
            IdClient.builder().token("t").endpoints("http://example.com"),
            IdClient.builder().token("t").endpoints("http://127.0.0.1.example.com"));
    for (IdClientBuilder builder : wrong) assertThrows(IllegalArgumentException.class, builder::build);
    for (String url : List.of("http://user:word@a", "ftp://user:word@a", "http://user:word@a b")) {
      IdClientBuilder many = IdClient.builder().endpoints(url).retryMax(9);
      String message = assertThrows(IllegalArgumentException.class, many::build).getMessage();
      assertTrue(message.contains("endpoint") && message.contains("retryMax") && !message.contains("word"), message);
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> new TlsOptions(Optional.empty(), Optional.of("certificate"), Optional.empty()));
    open(IdClient.builder().build());
    open(IdClient.builder().token("t").endpoints("http://example.com").insecureToken().build());
    String[] safe = {"https://example.com", "http://[::1]:1", "http://localhost", "http://127.9.9.9"};
    open(IdClient.builder().token("t").endpoints(safe).build());
  }

  @Test
  void aHostMayBeCalledAsASchemeOfGrpc() {
    for (String host : List.of("unix", "dns", "passthrough")) {
      assertEquals("dns:///" + host + ":80", EndpointAddress.read("HTTP://" + host).target());
    }
  }

  @Test
  void theLineBreakAtTheEndOfATokenFileIsDropped() {
    open(patient().token(" secret\n").build()).nextId();
    assertEquals(List.of("Bearer secret"), List.copyOf(server.tokens));
  }

  /** gRPC sent such calls without a token, or with another one. */
  @Test
  void whatIsNoTokenIsToldAtOnceAndSentToNobody() {
    List<String> wrong = new ArrayList<>(List.of("", " ", "two\nlines", "\u00fc", "\0"));
    wrong.add(null);
    for (String token : wrong) {
      IdClient client = open(patient().token(() -> token).build());
      PrefetchBuffer buffer = client.prefetch();
      for (Executable call : List.<Executable>of(client::nextId, client.stream(1)::next, buffer::nextId)) {
        SnowlaneException error = assertThrows(SnowlaneException.class, call);
        assertEquals(ErrorReason.RPC_FAILED, error.reason(), error::toString);
        assertEquals(StatusCode.UNAUTHENTICATED, error.code());
      }
    }
    assertEquals(0, server.calls.get());
    assertThrows(NullPointerException.class, () -> IdClient.builder().token((String) null));
  }

  @Test
  void anEndpointThatIsNullIsRefusedByTheNameOfTheOption() {
    NullPointerException error =
        assertThrows(
            NullPointerException.class, () -> IdClient.builder().endpoints("http://a:1", null));
    assertEquals("endpoints", error.getMessage());
  }

  @Test
  void sizesOfChunksOutOfRangeAreRefused() {
    for (int size : new int[] {-1, 65_537, Integer.MIN_VALUE}) {
      SnowlaneException error =
          assertThrows(SnowlaneException.class, () -> StreamOptions.DEFAULTS.withChunkSize(size));
      assertEquals(ErrorReason.COUNT_OUT_OF_RANGE, error.reason());
      assertEquals(StatusCode.INVALID_ARGUMENT, error.code());
      assertEquals(Map.of("chunk_size", "" + size, "chunk_size_max", "65536"), error.metadata());
    }
  }

  /** Callers waited and got nothing, and the buffer never asked again. */
  @Test
  void aSourceThatBreaksIsAFailedReservation() throws InterruptedException {
    List<RunSource> broken =
        List.of(
            (count, timeout) -> null,
            (count, timeout) -> CompletableFuture.completedFuture(null),
            (count, timeout) -> {
              throw new StackOverflowError();
            });
    for (RunSource source : broken) expectFailures(new PrefetchBuffer(source, PrefetchOptions.DEFAULTS));
    Supplier<String> token =
        () -> {
          throw new StackOverflowError();
        };
    expectFailures(open(patient().token(token).build()).prefetch());
  }

  private static void expectFailures(PrefetchBuffer made) throws InterruptedException {
    try (PrefetchBuffer buffer = made) {
      while (buffer.stats().refillFailures() < 2) {
        assertThrows(SnowlaneException.class, buffer::nextIdNow);
        Thread.sleep(1);
      }
      SnowlaneException error = assertThrows(SnowlaneException.class, () -> buffer.nextId(Duration.ofMillis(1)));
      assertEquals(ErrorReason.RPC_FAILED, error.reason(), error::toString);
    }
  }

  @Test
  void aTimeToWaitMustBeGiven() {
    PrefetchBuffer buffer = open(patient().build()).prefetch();
    assertThrows(NullPointerException.class, () -> buffer.nextId(null));
  }
}
