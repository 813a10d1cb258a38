package dev.snowlane.client;

import dev.snowlane.client.LayoutField.Kind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The built-in layouts. docs/layouts.md says what each is good for, and where its constants come from. */
final class Presets {

  private static final long MS = 1_000_000;
  private static final Map<String, Layout> BY_NAME = new LinkedHashMap<>();

  static {
    List<LayoutField> twitter =
        List.of(time(41), new LayoutField(Kind.DATACENTER, 5), worker(5), sequence(12));
    add("twitter", 1_288_834_974_657L, MS, twitter);
    add("discord", 1_420_070_400_000L, MS, twitter);
    add("instagram", 1_314_220_021_721L, MS, List.of(time(40), worker(13), sequence(10)));
    add("sonyflake", 1_409_529_600_000L, 10 * MS, List.of(time(39), sequence(8), worker(16)));
    add("baidu", 1_463_673_600_000L, 1_000 * MS, List.of(time(28), worker(22), sequence(13)));
    add("javascript", 1_767_225_600_000L, MS, List.of(time(41), worker(6), sequence(6)));
    List<LayoutField> oneWorkerField = List.of(time(41), worker(10), sequence(12));
    add("leaf", 1_288_834_974_657L, MS, oneWorkerField);
    add("cosid", 1_577_203_200_000L, MS, oneWorkerField);
    add("tsid", 1_577_836_800_000L, MS, oneWorkerField);
    add("clickhouse", 0, MS, oneWorkerField);
    add("pgedge", 1_672_531_200_000L, MS, oneWorkerField);
    add("pgedge-2.3", 1_672_531_200_000L, MS, List.of(time(41), sequence(12), worker(10)));
    add("hazelcast", 1_514_764_800_000L, MS, List.of(time(41), sequence(6), worker(16)));
    add("yitter", 1_582_136_402_000L, MS, List.of(time(51), worker(6), sequence(6)));
    add("mastodon", 0, MS, List.of(time(47), sequence(16)));
  }

  private Presets() {}

  static Layout named(String name) {
    Layout layout = BY_NAME.get(name);
    if (layout != null) return layout;
    String message = "There is no layout \"" + name + "\"; there are: " + String.join(", ", BY_NAME.keySet()) + ".";
    throw new SnowlaneException(ErrorReason.INVALID_LAYOUT, message, Map.of("layout", String.valueOf(name)));
  }

  private static void add(String name, long epochMs, long tickNs, List<LayoutField> fields) {
    BY_NAME.put(name, new Layout(name, epochMs, tickNs, fields));
  }

  private static LayoutField time(int bits) {
    return new LayoutField(Kind.TIMESTAMP, bits);
  }

  private static LayoutField worker(int bits) {
    return new LayoutField(Kind.WORKER, bits);
  }

  private static LayoutField sequence(int bits) {
    return new LayoutField(Kind.SEQUENCE, bits);
  }
}
