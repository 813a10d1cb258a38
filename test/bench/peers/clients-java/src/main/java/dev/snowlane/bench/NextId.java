package dev.snowlane.bench;

import cn.hutool.core.lang.Snowflake;
import com.github.f4b6a3.tsid.TsidFactory;
import dev.snowlane.client.IdRun;
import dev.snowlane.client.PrefetchBuffer;
import dev.snowlane.client.PrefetchOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The cost of an ID: from the buffer, and by local generators. JMH takes each ID, so that none is left out. */
public class NextId {

  /** Over a source that answers as a server does whose ceiling nobody reaches, after about a millisecond. */
  @State(Scope.Benchmark)
  public static class Buffer {
    private final AtomicLong next = new AtomicLong(1L << 60);
    private PrefetchBuffer ids;

    @Setup
    public void open() {
      PrefetchOptions options = PrefetchOptions.DEFAULTS.withCounts(32, 1 << 20);
      ids = new PrefetchBuffer((count, timeout) -> reserve(count), options);
    }

    private CompletableFuture<List<IdRun>> reserve(int count) {
      List<IdRun> runs = List.of(new IdRun(next.getAndAdd(count), count, 1));
      return CompletableFuture.supplyAsync(() -> runs, CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS));
    }

    @TearDown
    public void close() {
      ids.close();
    }
  }

  @State(Scope.Benchmark)
  public static class Peers {
    final TsidFactory tsid = TsidFactory.newInstance256(1);
    /** 41 bits of time, 1 of machine, 21 of sequence: a ceiling of 2 G IDs a second. */
    final MillisecondSnowflakeId cosidLifted = new MillisecondSnowflakeId(1_577_836_800_000L, 41, 1, 21, 1, 1);
    final MillisecondSnowflakeId cosidShipped = new MillisecondSnowflakeId(1);
    final Snowflake hutoolShipped = new Snowflake(1, 1);
  }

  @Benchmark
  public long buffer(Buffer buffer) {
    return buffer.ids.nextId();
  }

  /** 10,000 IDs. */
  @Benchmark
  public long[] stockArray(Buffer buffer) {
    return buffer.ids.nextIds(10_000);
  }

  @Benchmark
  public long tsidCreatorLifted(Peers peers) {
    return peers.tsid.create().toLong();
  }

  @Benchmark
  public long cosidLifted(Peers peers) {
    return peers.cosidLifted.generate();
  }

  @Benchmark
  public long cosidShipped(Peers peers) {
    return peers.cosidShipped.generate();
  }

  @Benchmark
  public long hutoolShipped(Peers peers) {
    return peers.hutoolShipped.nextId();
  }
}
