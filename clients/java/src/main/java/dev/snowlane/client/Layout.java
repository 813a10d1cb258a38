package dev.snowlane.client;

import dev.snowlane.client.LayoutField.Kind;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * How the 63 bits of an ID are divided. A layout is immutable, and checked when it is made. It reads IDs, and computes
 * the range of a time interval, offline.
 *
 * The life of a layout ends with its timestamp field, with the year 9999, or at 2^53 - 1 ticks, whichever is first.
 */
public final class Layout {

  /** 0001-01-01: the first that google.protobuf.Timestamp can carry. */
  private static final long TIMESTAMP_FIRST_MS = -62_135_596_800_000L;

  /** 9999-12-31T23:59:59.999Z: the last. */
  private static final long TIMESTAMP_LAST_MS = 253_402_300_799_999L;

  private static final long NS_PER_MS = 1_000_000;
  private static final long TICK_NS_MIN = 1_000;
  private static final long TICK_NS_MAX = 3_600_000 * NS_PER_MS;
  private static final long TICKS_MAX = (1L << 53) - 1;
  private static final int BITS_MAX = 63;
  private static final int TIMESTAMP_BITS_MAX = 62;
  private static final int OTHER_BITS_MAX = 32;

  private final String name;
  private final long epochMs;
  private final long tickNs;
  private final List<LayoutField> fields;
  private final int bits;
  final FieldPlace timestamp;
  final FieldPlace datacenter;
  final FieldPlace worker;
  final FieldPlace sequence;

  /**
   * @param name of a preset, or {@code custom}
   * @param epoch zero point of time, whole milliseconds, from year 1 to year 9999
   * @param tick unit of the timestamp, 1 us to 1 h: a divisor of one millisecond, or whole milliseconds
   * @param fields from the highest bit down; the lowest ends at bit 0. There must be a timestamp; each kind may occur
   *     once; all fields together have at most 63 bits
   * @throws SnowlaneException INVALID_LAYOUT
   */
  public Layout(String name, Instant epoch, Duration tick, List<LayoutField> fields) {
    this(name, millisOf(epoch), nanosOf(tick), fields);
  }

  Layout(String name, long epochMs, long tickNs, List<LayoutField> fields) {
    this.name = name;
    this.epochMs = epochMs;
    this.tickNs = tickNs;
    this.fields = List.copyOf(fields);
    checkNumbers();
    Map<Kind, FieldPlace> places = placeFields(this.fields);
    FieldPlace time = places.get(Kind.TIMESTAMP);
    this.bits = fields.stream().mapToInt(LayoutField::bits).sum();
    this.timestamp = new FieldPlace(time.bits(), time.shift(), Math.min(time.max(), Math.min(lifeTicks(), TICKS_MAX)));
    this.datacenter = places.getOrDefault(Kind.DATACENTER, FieldPlace.NONE);
    this.worker = places.getOrDefault(Kind.WORKER, FieldPlace.NONE);
    this.sequence = places.getOrDefault(Kind.SEQUENCE, FieldPlace.NONE);
  }

  /**
   * Returns a built-in layout by its name.
   *
   * @throws SnowlaneException INVALID_LAYOUT if there is no such layout
   */
  public static Layout preset(String name) {
    return Presets.named(name);
  }

  /** The same layout with another epoch. */
  public Layout withEpoch(Instant epoch) {
    return new Layout(name, millisOf(epoch), tickNs, fields);
  }

  public String name() {
    return name;
  }

  public Instant epoch() {
    return Instant.ofEpochMilli(epochMs);
  }

  public Duration tick() {
    return Duration.ofNanos(tickNs);
  }

  /** The fields from the highest bit down. */
  public List<LayoutField> fields() {
    return fields;
  }

  /**
   * Reads an ID. It cannot tell whether the ID was ever issued: any number that fits the layout can be read.
   *
   * @throws SnowlaneException MALFORMED_ID if the ID is negative, has a bit that belongs to no field, or carries a time
   *     past the layout's life
   */
  public ParsedId parse(long id) {
    if (id < 0) throw malformed(id, "is not from 0 to 2^63 - 1");
    if (bits < BITS_MAX && id >>> bits != 0) throw malformed(id, "has more than the layout's " + bits + " bits");
    long ticks = timestamp.read(id);
    if (ticks > timestamp.max()) throw malformed(id, "has a time after the layout's end");
    return ParsedId.of(this, id);
  }

  /**
   * Returns the lowest and the highest ID whose creation time lies in an interval, for range queries over stored IDs.
   * Neighbouring intervals give neighbouring ranges. The ends are clamped to the layout's life. If another field is
   * above the timestamp, IDs of other times lie between the two as well.
   *
   * @param start inclusive
   * @param end exclusive
   * @throws SnowlaneException INVALID_TIME_RANGE if the interval is empty or reversed, or no tick of the layout's life
   *     begins in it
   */
  public IdRange idRange(Instant start, Instant end) {
    long firstTick = ticksUp(start);
    long endTick = ticksUp(end);
    if (!start.isBefore(end) || firstTick >= endTick) {
      String why = start.isBefore(end) ? "holds no tick of the layout " + name : "is empty or reversed";
      Map<String, String> metadata = Map.of("start_ns", unixNs(start), "end_ns", unixNs(end), "layout", name);
      String message = "The interval from " + start + " to " + end + " " + why + ".";
      throw new SnowlaneException(ErrorReason.INVALID_TIME_RANGE, message, metadata);
    }
    return new IdRange(
        compose(firstTick, 0, 0, 0), compose(endTick - 1, datacenter.max(), worker.max(), sequence.max()));
  }

  int bits() {
    return bits;
  }

  long epochMs() {
    return epochMs;
  }

  long tickNs() {
    return tickNs;
  }

  /** How many processes the layout can tell apart: datacenter and worker together. */
  long workerCount() {
    return 1L << (datacenter.bits() + worker.bits());
  }

  /** Ticks in a millisecond; 1 where a tick is longer. */
  long ticksPerMs() {
    return Math.max(NS_PER_MS / tickNs, 1);
  }

  /** Puts the parts of an ID together. They must lie in their ranges. */
  long compose(long ticks, long datacenterId, long workerId, long sequenceNumber) {
    return ticks << timestamp.shift()
        | datacenterId << datacenter.shift()
        | workerId << worker.shift()
        | sequenceNumber << sequence.shift();
  }

  /** Whether an ID has no bit outside the fields, and a time within the layout's life. */
  boolean fits(long id) {
    return id >= 0 && (bits == BITS_MAX || id >>> bits == 0) && timestamp.read(id) <= timestamp.max();
  }

  /** The Unix millisecond in which a tick begins, rounded down. */
  long ticksToMs(long ticks) {
    return epochMs + (tickNs >= NS_PER_MS ? ticks * (tickNs / NS_PER_MS) : Math.floorDiv(ticks, ticksPerMs()));
  }

  /** The first tick that begins at or after a Unix millisecond of the years -1 to 10,000. Negative before the epoch. */
  long msToTicksUp(long unixMs) {
    long sinceEpochMs = unixMs - epochMs;
    return tickNs >= NS_PER_MS ? -Math.floorDiv(-sinceEpochMs, tickNs / NS_PER_MS) : sinceEpochMs * ticksPerMs();
  }

  /** When a tick begins. */
  Instant timeOf(long ticks) {
    long nanosOfMs = tickNs >= NS_PER_MS ? 0 : Math.floorMod(ticks, ticksPerMs()) * tickNs;
    return Instant.ofEpochMilli(ticksToMs(ticks)).plusNanos(nanosOfMs);
  }

  /** The first tick that begins at or after a time, clamped to 0 and the one after the layout's last. */
  private long ticksUp(Instant time) {
    if (!time.isAfter(epoch())) return 0;
    if (time.isAfter(Instant.ofEpochMilli(TIMESTAMP_LAST_MS))) return timestamp.max() + 1;
    long ms = time.toEpochMilli();
    long nanosOfMs = time.getNano() % NS_PER_MS;
    long ticks =
        tickNs >= NS_PER_MS
            ? msToTicksUp(nanosOfMs == 0 ? ms : ms + 1)
            : msToTicksUp(ms) + (nanosOfMs + tickNs - 1) / tickNs;
    return Math.min(ticks, timestamp.max() + 1);
  }

  private long lifeTicks() {
    long lifeMs = TIMESTAMP_LAST_MS - epochMs;
    if (tickNs >= NS_PER_MS) return lifeMs / (tickNs / NS_PER_MS);
    return Math.multiplyHigh(lifeMs, ticksPerMs()) == 0 ? lifeMs * ticksPerMs() : Long.MAX_VALUE;
  }

  private void checkNumbers() {
    if (epochMs < TIMESTAMP_FIRST_MS || epochMs > TIMESTAMP_LAST_MS) {
      throw invalid("The epoch " + epochMs + " ms is not from year 1 to year 9999.", "epoch_ms", epochMs);
    }
    boolean isInRange = tickNs >= TICK_NS_MIN && tickNs <= TICK_NS_MAX;
    if (!isInRange || (NS_PER_MS % tickNs != 0 && tickNs % NS_PER_MS != 0)) {
      String what = "is not from 1 us to 1 h, or neither divides one millisecond nor is whole milliseconds";
      throw invalid("The tick " + tickNs + " ns " + what + ".", "tick_ns", tickNs);
    }
  }

  private static Map<Kind, FieldPlace> placeFields(List<LayoutField> fields) {
    Map<Kind, FieldPlace> places = new EnumMap<>(Kind.class);
    int shift = 0;
    for (int i = fields.size() - 1; i >= 0; i--) {
      Kind kind = fields.get(i).kind();
      int width = fields.get(i).bits();
      int widthMax = kind == Kind.TIMESTAMP ? TIMESTAMP_BITS_MAX : OTHER_BITS_MAX;
      if (width < 1 || width > widthMax) {
        String message = "The " + kind + " field has " + width + " bits; 1 to " + widthMax + " are possible.";
        throw invalid(message, "bits", width);
      }
      if (places.containsKey(kind)) throw invalid("The " + kind + " field occurs twice.", "field", kind);
      places.put(kind, new FieldPlace(width, shift, (1L << width) - 1));
      shift += width;
    }
    if (!places.containsKey(Kind.TIMESTAMP)) {
      throw invalid("The layout has no timestamp field.", "field", Kind.TIMESTAMP);
    }
    if (shift > BITS_MAX) throw invalid("The fields take " + shift + " bits; at most 63 are possible.", "bits", shift);
    int identityBits = widthOf(places, Kind.DATACENTER) + widthOf(places, Kind.WORKER);
    if (identityBits > OTHER_BITS_MAX) {
      String message = "Datacenter and worker take " + identityBits + " bits; at most 32 are possible.";
      throw invalid(message, "bits", identityBits);
    }
    return places;
  }

  private static int widthOf(Map<Kind, FieldPlace> places, Kind kind) {
    return places.getOrDefault(kind, FieldPlace.NONE).bits();
  }

  private static long millisOf(Instant time) {
    if (time.getNano() % NS_PER_MS != 0) {
      throw invalid("The epoch " + time + " is not whole milliseconds.", "epoch", time);
    }
    try {
      return time.toEpochMilli();
    } catch (ArithmeticException tooFar) {
      throw invalid("The epoch " + time + " is not from year 1 to year 9999.", "epoch", time);
    }
  }

  private static long nanosOf(Duration tick) {
    try {
      return tick.toNanos();
    } catch (ArithmeticException tooLong) {
      throw invalid("The tick " + tick + " is not from 1 us to 1 h.", "tick", tick);
    }
  }

  private static String unixNs(Instant time) {
    BigInteger ofSeconds = BigInteger.valueOf(time.getEpochSecond()).multiply(BigInteger.valueOf(1_000 * NS_PER_MS));
    return ofSeconds.add(BigInteger.valueOf(time.getNano())).toString();
  }

  private static SnowlaneException invalid(String message, String key, Object value) {
    return new SnowlaneException(ErrorReason.INVALID_LAYOUT, message, Map.of(key, value.toString()));
  }

  private SnowlaneException malformed(long id, String why) {
    String text = Long.toUnsignedString(id);
    Map<String, String> metadata = Map.of("id", text, "layout", name);
    return new SnowlaneException(ErrorReason.MALFORMED_ID, "The ID " + text + " " + why + ".", metadata);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Layout that
        && name.equals(that.name)
        && epochMs == that.epochMs
        && tickNs == that.tickNs
        && fields.equals(that.fields);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, epochMs, tickNs, fields);
  }

  @Override
  public String toString() {
    return "Layout[" + name + ", epoch " + epoch() + ", tick " + tick() + ", " + fields + "]";
  }
}
