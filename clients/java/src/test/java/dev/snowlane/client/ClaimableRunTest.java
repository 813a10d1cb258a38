package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClaimableRunTest {

  @Test
  void closingManyTimesNeverOpensItAgain() {
    ClaimableRun run = new ClaimableRun(null, new IdRun(100, 10, 3), 10, 0);
    assertEquals(0, run.claim());
    assertEquals(1, run.claimBlock(4));
    assertEquals(5, run.close());
    for (int i = 0; i < 100_000; i++) {
      assertEquals(0, run.close());
      assertTrue(run.claim() >= run.count);
      assertTrue(run.claimBlock(Integer.MAX_VALUE) >= run.count);
      assertEquals(0, run.unclaimed());
    }
  }

  @Test
  void aBlockIsCutShortAtTheEnd() {
    ClaimableRun run = new ClaimableRun(null, new IdRun(100, 10, 3), 10, 0);
    assertEquals(0, run.claimBlock(7));
    assertEquals(7, run.claimBlock(7));
    assertEquals(0, run.unclaimed());
    assertTrue(run.claim() >= run.count);
    assertEquals(0, run.close());
  }

  @Test
  void theAgeIsLookedAtOnceIn10MsOfUseAndAtEach64thClaimAtLeast() {
    int[] masks = IntStream.of(0, 100, 199, 200, 1_000, 6_399, 6_400, 1_000_000).map(ClaimableRun::lookMask).toArray();
    assertArrayEquals(new int[] {0, 0, 0, 1, 7, 31, 63, 63}, masks);
  }

  @Test
  void aClaimBehindTheMarkCostsNoMoreThanOneBeforeIt() {
    int mask = ClaimableRun.lookMask(1_000_000);
    for (int low : new int[] {0, 1, 63, 640, 1_000}) {
      ClaimableRun run = new ClaimableRun(null, new IdRun(100, 1_000, 1), low, mask);
      int[] slow = IntStream.range(0, 1_100).filter(index -> !run.isPlain(index)).toArray();
      int[] wanted = IntStream.range(0, 1_100).filter(i -> i % 64 == 0 || i == low || i >= run.count).toArray();
      assertArrayEquals(wanted, slow);
    }
  }

  @Test
  void claimsBeyondTheEndNeverComeBack() {
    ClaimableRun run = new ClaimableRun(null, new IdRun(0, 1 << 20, 1), 1 << 20, 0);
    for (int i = 0; i < 10_000_000; i++) run.claimBlock(Integer.MAX_VALUE);
    assertTrue(run.claim() >= run.count);
  }
}
