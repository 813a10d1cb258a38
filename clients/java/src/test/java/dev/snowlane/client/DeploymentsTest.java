package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Timestamp;
import dev.snowlane.client.Deployments.MetServer;
import dev.snowlane.v1.GetInfoResponse;
import dev.snowlane.v1.LayoutField;
import dev.snowlane.v1.LayoutFieldKind;
import dev.snowlane.v1.WorkerBinding;
import dev.snowlane.v1.WorkerIdRange;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(180)
class DeploymentsTest extends ScriptedServerTest {

  /** What a server says whose store is bound to some worker IDs. */
  private static Optional<GetInfoResponse> bound(int bits, WorkerBinding.Builder binding) {
    LayoutField field =
        LayoutField.newBuilder().setKind(LayoutFieldKind.LAYOUT_FIELD_KIND_WORKER).setBits(bits).build();
    dev.snowlane.v1.Layout layout = dev.snowlane.v1.Layout.newBuilder().setName("x").addFields(field).build();
    GetInfoResponse.Builder info = GetInfoResponse.newBuilder().setLayout(layout);
    if (binding != null) info.setBinding(binding);
    return Optional.of(info.build());
  }

  private static WorkerBinding.Builder datacenters(Integer... ids) {
    return WorkerBinding.newBuilder().addAllDatacenterIds(List.of(ids));
  }

  private static WorkerBinding.Builder workers(int first, int last) {
    return WorkerBinding.newBuilder().setWorkerIds(WorkerIdRange.newBuilder().setFirst(first).setLast(last));
  }

  private static void expectPair(boolean isTogether, Optional<GetInfoResponse> a, Optional<GetInfoResponse> b) {
    Deployments deployments = new Deployments(List.of());
    deployments.admit(new MetServer("http://a", 1, a));
    MetServer second = new MetServer("http://b", 2, b);
    if (isTogether) {
      deployments.admit(second);
    } else {
      SnowlaneException error = assertThrows(SnowlaneException.class, () -> deployments.admit(second));
      String both = "00000002) than the one in use (00000001, first at http://a)";
      assertTrue(error.getMessage().contains(both), error.getMessage());
    }
    assertEquals(isTogether, deployments.knows(2));
    assertEquals(isTogether ? 2 : 1, deployments.current());
  }

  @Test
  void deploymentsGoTogetherWhoseStoresAreBoundToDifferentWorkerIdsOfOneLayout() {
    Optional<GetInfoResponse> unasked = Optional.empty();
    expectPair(false, unasked, unasked);
    expectPair(false, bound(10, datacenters(1)), unasked);
    expectPair(false, bound(10, null), bound(10, null));
    expectPair(false, bound(10, datacenters(1)), bound(10, null));
    expectPair(true, bound(10, datacenters(1, 2)), bound(10, datacenters(3)));
    expectPair(false, bound(10, datacenters(1, 2)), bound(10, datacenters(2, 3)));
    expectPair(true, bound(10, workers(0, 9)), bound(10, workers(10, 19)));
    expectPair(false, bound(10, workers(0, 10)), bound(10, workers(10, 19)));
    expectPair(false, bound(10, datacenters(1)), bound(9, datacenters(2)));
    expectPair(false, bound(10, datacenters(1)), bound(10, workers(10, 19)));
  }

  @Test
  void theNumberOfADeploymentIsItsFirstEightDigitsAnd0IsNone() {
    assertEquals(0, Deployments.numberOf(""));
    assertEquals(1, Deployments.numberOf("0".repeat(32)));
    assertEquals(0xff00a3c2, Deployments.numberOf("ff00a3c2" + "0".repeat(24)));
    assertTrue(new Deployments(List.of()).knows(0));
    assertFalse(new Deployments(List.of()).knows(7));
  }

  private static List<Executable> callsOf(IdClient client) {
    PrefetchBuffer buffer = client.prefetch();
    return List.of(
        client::nextId, () -> client.nextIds(1), () -> collect(client, 1, StreamOptions.DEFAULTS), buffer::nextId);
  }

  @Test
  void noCallGivesAnIdWhereTheEndpointsAreOfTwoDeploymentsAndBothAreNamed() {
    ScriptedServer second = opened(new ScriptedServer());
    server.deployment = 1;
    second.deployment = 2;
    for (Executable call : callsOf(connect(patient(), server, second))) {
      SnowlaneException error = expect(ErrorReason.DEPLOYMENT_MISMATCH, call);
      assertEquals(StatusCode.FAILED_PRECONDITION, error.code());
      for (ScriptedServer each : List.of(server, second)) {
        assertTrue(error.toString().contains(each.url()), error.toString());
      }
    }
  }

  @Test
  void theAnswersOfAServerThatBecameAnotherDeploymentsAreRefused() {
    server.deployment = 1;
    IdClient client = connect(patient().retryMax(0), server);
    client.nextId();
    server.deployment = 2;
    Map<String, String> metadata =
        Map.of("deployment", "00000002", "expected_deployment", "00000001", "endpoint_first", server.url());
    for (Executable call : callsOf(client)) {
      assertEquals(metadata, expect(ErrorReason.DEPLOYMENT_MISMATCH, call).metadata());
    }
  }

  @Test
  void aClientGoesOnWithTheFirstDeploymentWhenAnotherJoinsLater() {
    ScriptedServer second = opened(new ScriptedServer());
    second.nextId.set(1_000);
    server.deployment = 1;
    second.deployment = 1;
    IdClient client = connect(patient(), server, second);
    boolean isFirst = client.nextId() < 1_000;
    (isFirst ? server : second).deployment = 2;
    for (int i = 0; i < 5; i++) assertEquals(!isFirst, client.nextId() < 1_000);
  }

  @Test
  void onlyTheDeploymentsOfTheOptionAreUsed() {
    ScriptedServer second = opened(new ScriptedServer());
    server.deployment = 1;
    second.deployment = 2;
    connect(patient().deployments(server.fingerprint(), second.fingerprint()), server, second).nextId();
    IdClient one = connect(patient().retryMax(0).deployments(server.fingerprint()), second);
    expect(ErrorReason.DEPLOYMENT_MISMATCH, one::nextId);
    for (String wrong : List.of("", "xyz", "1234567", "0".repeat(33))) {
      assertThrows(IllegalArgumentException.class, () -> IdClient.builder().deployments(wrong).build());
    }
  }

  @Test
  void theFirstIdComesAlthoughAServerDoesNotTellItsDeployment() {
    ScriptedServer second = opened(new ScriptedServer());
    server.deployment = 1;
    connect(patient(), server, second).nextId();
    second.kill();
    connect(patient(), server, second).nextId();
  }

  @Test
  void theLayoutIsAskedForAgainWhenAnotherDeploymentAnswers() {
    LayoutField field =
        LayoutField.newBuilder().setKind(LayoutFieldKind.LAYOUT_FIELD_KIND_TIMESTAMP).setBits(41).build();
    com.google.protobuf.Duration tick = com.google.protobuf.Duration.newBuilder().setNanos(1_000_000).build();
    Timestamp epoch = Timestamp.getDefaultInstance();
    server.info =
        GetInfoResponse.newBuilder()
            .setLayout(
                dev.snowlane.v1.Layout.newBuilder().setName("x").setEpochTime(epoch).setTick(tick).addFields(field))
            .build();
    server.deployment = 1;
    String first = server.fingerprint();
    server.deployment = 2;
    IdClient client = connect(patient().deployments(first, server.fingerprint()), server);
    for (int expected : List.of(1, 1, 2)) {
      server.deployment = expected;
      client.nextId();
      client.layout();
      assertEquals(expected, server.infoCalls.get());
    }
  }
}
