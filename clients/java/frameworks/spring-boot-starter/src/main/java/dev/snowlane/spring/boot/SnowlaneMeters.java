package dev.snowlane.spring.boot;

import dev.snowlane.client.BufferStats;
import dev.snowlane.client.ClientObserver;
import dev.snowlane.client.ErrorReason;
import dev.snowlane.client.PrefetchBuffer;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** The meters of the client and of the shared buffer, all named {@code snowlane.client.*}. */
final class SnowlaneMeters implements ClientObserver, MeterBinder {

  private final Supplier<PrefetchBuffer> buffer;

  /** Null before it is bound: events until then are not counted. */
  private volatile MeterRegistry registry;

  SnowlaneMeters(Supplier<PrefetchBuffer> buffer) {
    this.buffer = buffer;
  }

  @Override
  public void bindTo(MeterRegistry target) {
    PrefetchBuffer shared = buffer.get();
    gauge("snowlane.client.stock", "IDs that can be had without waiting", BufferStats::stock, shared, target);
    gauge("snowlane.client.rate", "IDs handed out per second", BufferStats::ratePerSecond, shared, target);
    counter("snowlane.client.ids", "handed_out", BufferStats::handedOut, shared, target);
    counter("snowlane.client.ids", "dropped", BufferStats::dropped, shared, target);
    registry = target;
  }

  @Override
  public void onAttempt(AttemptEvent event) {
    String isHedge = Boolean.toString(event.isHedge());
    record(
        "snowlane.client.attempts",
        event.reason(),
        event.duration(),
        timer -> timer.tag("method", event.method()).tag("hedge", isHedge));
  }

  @Override
  public void onRefill(RefillEvent event) {
    record("snowlane.client.refills", event.reason(), event.duration(), timer -> timer);
  }

  @Override
  public void onWait(WaitEvent event) {
    record("snowlane.client.waits", event.reason(), event.duration(), timer -> timer);
  }

  private void record(
      String name,
      Optional<ErrorReason> reason,
      Duration duration,
      Function<Timer.Builder, Timer.Builder> tags) {
    MeterRegistry target = registry;
    if (target == null) return;
    Timer.Builder timer = Timer.builder(name).tag("reason", reason.map(ErrorReason::name).orElse("none"));
    tags.apply(timer).register(target).record(duration);
  }

  private static void gauge(
      String name, String text, ToDoubleFunction<BufferStats> value, PrefetchBuffer buffer, MeterRegistry target) {
    Gauge.builder(name, buffer, shared -> value.applyAsDouble(shared.stats())).description(text).register(target);
  }

  private static void counter(
      String name, String result, ToDoubleFunction<BufferStats> value, PrefetchBuffer buffer, MeterRegistry target) {
    FunctionCounter.builder(name, buffer, shared -> value.applyAsDouble(shared.stats()))
        .tag("result", result)
        .register(target);
  }
}
