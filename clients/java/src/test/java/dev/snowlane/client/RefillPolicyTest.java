package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.snowlane.client.RefillPolicy.Handed;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The numbers of the example in {@link RefillPolicy}. */
class RefillPolicyTest {

  private static RefillPolicy policy() {
    RefillPolicy policy = new RefillPolicy(PrefetchOptions.DEFAULTS.withCounts(32, 65_536));
    policy.noteHandedOut(new Handed(0, 0));
    return policy;
  }

  private static Handed handed(int second, long count) {
    return new Handed(TimeUnit.SECONDS.toNanos(second), count);
  }

  @Test
  void at2000IdsASecondAReservationAsksFor2000WithTheMarksThatTheExampleSays() {
    RefillPolicy policy = policy();
    assertEquals(32, policy.reserveCount());
    policy.noteHandedOut(handed(1, 2_000));
    assertEquals(2_000, policy.reserveCount());
    int[] marks =
        LongStream.of(5, 50, 100)
            .mapToInt(
                roundTripMs -> {
                  RefillPolicy measured = policy();
                  measured.noteHandedOut(handed(1, 2_000));
                  measured.noteRoundTrip(TimeUnit.MILLISECONDS.toNanos(roundTripMs));
                  return measured.lowWater(2_000);
                })
            .toArray();
    assertArrayEquals(new int[] {500, 800, 1_600}, marks);
  }

  @Test
  void eachSecondWithoutUseHalvesTheRateAsTheExampleSays() {
    RefillPolicy policy = policy();
    policy.noteHandedOut(handed(1, 2_000));
    double[] rates =
        IntStream.range(2, 8)
            .mapToDouble(
                second -> {
                  policy.noteHandedOut(handed(second, 2_000));
                  return policy.ratePerSecond();
                })
            .toArray();
    assertArrayEquals(new double[] {1_000, 500, 250, 125, 62.5, 31.25}, rates);
    assertEquals(32, policy.reserveCount());
  }

  @Test
  void aMarkThatIsMetWithin250MsDoublesTheNextReservationAsTheExampleSays() {
    RefillPolicy policy = policy();
    policy.noteMark(32, TimeUnit.MILLISECONDS.toNanos(250));
    assertEquals(64, policy.reserveCount());
    policy.noteMark(32, TimeUnit.MILLISECONDS.toNanos(251));
    assertEquals(32, policy.reserveCount());
  }
}
