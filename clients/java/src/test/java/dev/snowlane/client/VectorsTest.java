package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The vectors that every language's tests read: equal results, equal refusals. */
class VectorsTest {

  private static final Path FOLDER = Path.of("../../test/vectors");
  private static final Map<String, Layout> LAYOUTS = readLayouts();

  private static JsonObject load(String name) {
    try {
      JsonObject content = JsonParser.parseString(Files.readString(FOLDER.resolve(name + ".json"))).getAsJsonObject();
      assertFalse(content.getAsJsonArray("vectors").isEmpty());
      return content;
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static List<JsonObject> vectors(JsonObject content) {
    return content.getAsJsonArray("vectors").asList().stream().map(JsonElement::getAsJsonObject).toList();
  }

  private static Map<String, Layout> readLayouts() {
    Map<String, Layout> layouts = new HashMap<>();
    for (JsonObject vector : vectors(load("layouts"))) {
      Layout layout = layoutOf(vector);
      layouts.put(layout.name(), layout);
    }
    return layouts;
  }

  private static Layout layoutOf(JsonObject spec) {
    List<LayoutField> fields = new ArrayList<>();
    for (JsonElement field : spec.getAsJsonArray("fields")) {
      String kind = field.getAsJsonObject().get("kind").getAsString().toUpperCase(Locale.ROOT);
      fields.add(new LayoutField(LayoutField.Kind.valueOf(kind), field.getAsJsonObject().get("bits").getAsInt()));
    }
    Instant epoch = Instant.ofEpochMilli(spec.get("epochMs").getAsLong());
    Duration tick = Duration.ofNanos(spec.get("tickNs").getAsLong());
    return new Layout(spec.get("name").getAsString(), epoch, tick, fields);
  }

  private static TextFormat formatOf(JsonObject vector) {
    return new TextFormat(
        formOf(vector.get("form")),
        vector.has("serialPrefix") ? vector.get("serialPrefix").getAsString() : "",
        vector.has("utcOffsetMinutes") ? vector.get("utcOffsetMinutes").getAsInt() : 0,
        vector.has("checkSymbol") && vector.get("checkSymbol").getAsBoolean(),
        vector.has("typePrefix") ? vector.get("typePrefix").getAsString() : "");
  }

  private static TextForm formOf(JsonElement name) {
    return TextForm.valueOf(name.getAsString().toUpperCase(Locale.ROOT));
  }

  private static Instant timeOf(JsonElement time) {
    JsonObject parts = time.getAsJsonObject();
    return Instant.ofEpochSecond(parts.get("seconds").getAsLong(), parts.get("nanos").getAsLong());
  }

  private static OptionalLong idOf(JsonObject vector) {
    JsonElement id = vector.get("id");
    return id.isJsonNull() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(id.getAsString()));
  }

  /** Gives the rows of a claim of the past their IDs. */
  private static final class PastClaim {
    long firstTick;
    long endTick;
    long[] laneBits;
    /** Of the sequence field. */
    long numbers;
    int timestampShift;
    int sequenceShift;
    private long nextSlot;

    /** The ID of the next row, whose ticks come sorted; empty where the claim has no room left. */
    OptionalLong next(long rowTick) {
      long capacity = laneBits.length * numbers;
      long slot = Math.max(nextSlot, (rowTick - firstTick) * capacity);
      nextSlot = slot + 1;
      long tick = firstTick + slot / capacity;
      long place = slot % capacity;
      long id = tick << timestampShift | laneBits[(int) (place / numbers)] | place % numbers << sequenceShift;
      return tick < endTick ? OptionalLong.of(id) : OptionalLong.empty();
    }
  }

  private static PastClaim pastClaimOf(JsonObject vector) {
    Layout layout = LAYOUTS.get(vector.get("layout").getAsString());
    PastClaim claim = new PastClaim();
    claim.firstTick = vector.get("firstTick").getAsLong();
    claim.endTick = vector.get("endTick").getAsLong();
    claim.laneBits =
        vector.getAsJsonArray("laneBits").asList().stream()
            .mapToLong(bits -> Long.parseLong(bits.getAsString()))
            .toArray();
    claim.numbers = layout.sequence.max() + 1;
    claim.timestampShift = layout.timestamp.shift();
    claim.sequenceShift = layout.sequence.shift();
    return claim;
  }

  @Test
  void past() {
    for (JsonObject vector : vectors(load("past"))) {
      PastClaim claim = pastClaimOf(vector);
      for (JsonElement element : vector.getAsJsonArray("rows")) {
        JsonObject run = element.getAsJsonObject();
        long count = run.get("count").getAsLong();
        for (long row = 0; row < count; row++) {
          OptionalLong id = claim.next(run.get("tick").getAsLong());
          if (row == 0) assertEquals(pastId(run.get("firstId")), id, vector::toString);
          if (row == count - 1) assertEquals(pastId(run.get("lastId")), id, vector::toString);
        }
      }
    }
  }

  private static OptionalLong pastId(JsonElement text) {
    return text.isJsonNull() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text.getAsString()));
  }

  @Test
  void layouts() {
    for (JsonObject vector : vectors(load("layouts"))) {
      Layout layout = LAYOUTS.get(vector.get("name").getAsString());
      assertEquals(vector.get("timestampMax").getAsLong(), layout.timestamp.max(), layout.name());
      assertEquals(vector.get("serialDigits").getAsInt(), new SerialCodec(layout).digitCount, layout.name());
      assertEquals(vector.get("uuidFillerBits").getAsInt(), new UuidCodec(layout, "default").fillerBits, layout.name());
      if (!layout.name().startsWith("custom-")) assertEquals(layout, Layout.preset(layout.name()));
    }
  }

  @Test
  void ids() {
    JsonObject content = load("ids");
    for (JsonObject vector : vectors(content)) {
      Layout layout = LAYOUTS.get(vector.get("layout").getAsString());
      long id = idOf(vector).getAsLong();
      ParsedId parsed = layout.parse(id);
      assertEquals(vector.get("ticks").getAsLong(), parsed.ticks());
      assertEquals(vector.get("datacenterId").getAsLong(), parsed.datacenterId().orElse(0));
      assertEquals(vector.get("workerId").getAsLong(), parsed.workerId().orElse(0));
      assertEquals(vector.get("sequence").getAsLong(), parsed.sequence().orElse(0));
      assertEquals(layout.datacenter.exists(), parsed.datacenterId().isPresent());
      assertEquals(timeOf(vector.get("createTime")), parsed.createTime());
      checkTexts(new TextCodec(layout, content.get("namespace").getAsString()), id, vector);
      checkRange(layout, parsed);
    }
  }

  private static void checkTexts(TextCodec codec, long id, JsonObject vector) {
    Set<TextForm> forms = EnumSet.noneOf(TextForm.class);
    for (JsonElement element : vector.getAsJsonArray("texts")) {
      TextFormat format = formatOf(element.getAsJsonObject());
      String text = element.getAsJsonObject().get("text").getAsString();
      forms.add(format.form());
      assertEquals(text, codec.write(id, format));
      TextReadOptions options =
          TextReadOptions.DEFAULTS.withForm(format.form()).withUtcOffsetMinutes(format.utcOffsetMinutes());
      TextReading reading = codec.read(text, options);
      assertEquals(OptionalLong.of(id), reading.id());
      assertEquals(format, reading.format());
    }
    Set<TextForm> withoutOptions = EnumSet.copyOf(forms);
    withoutOptions.remove(TextForm.TYPED);
    assertEquals(withoutOptions, codec.writeAll(id).keySet());
    for (TextForm form : EnumSet.complementOf(EnumSet.copyOf(withoutOptions))) {
      assertThrows(SnowlaneException.class, () -> codec.write(id, form));
    }
  }

  private static void checkRange(Layout layout, ParsedId parsed) {
    IdRange range = layout.idRange(parsed.createTime(), parsed.createTime().plus(layout.tick()));
    assertEquals(parsed.ticks(), layout.parse(range.firstId()).ticks());
    assertEquals(parsed.ticks(), layout.parse(range.lastId()).ticks());
    boolean isSorted = layout.fields().get(0).kind() == LayoutField.Kind.TIMESTAMP;
    assertTrue(!isSorted || range.firstId() <= parsed.id() && parsed.id() <= range.lastId());
  }

  @Test
  void detection() {
    JsonObject content = load("detection");
    Instant now = Instant.ofEpochMilli(content.get("nowMs").getAsLong());
    for (JsonObject vector : vectors(content)) {
      Layout layout = LAYOUTS.get(vector.get("layout").getAsString());
      TextCodec codec = new TextCodec(layout, content.get("namespace").getAsString());
      int offset = vector.get("utcOffsetMinutes").getAsInt();
      TextReadOptions options = TextReadOptions.DEFAULTS.withNow(now).withUtcOffsetMinutes(offset);
      TextReading reading = codec.read(vector.get("text").getAsString(), options);
      assertEquals(formatOf(vector.getAsJsonObject("format")), reading.format());
      assertEquals(idOf(vector), reading.id());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"uuids", "published-uuids"})
  void uuids(String name) {
    JsonObject content = load(name);
    Layout layout = LAYOUTS.get(content.has("layout") ? content.get("layout").getAsString() : "twitter");
    String namespace = content.has("namespace") ? content.get("namespace").getAsString() : "default";
    TextCodec codec = new TextCodec(layout, namespace);
    for (JsonObject vector : vectors(content)) {
      TextReading reading = codec.read(vector.get("text").getAsString());
      UuidInfo info = reading.uuid().orElseThrow();
      assertEquals(vector.get("version").getAsInt(), info.version());
      assertEquals(vector.get("variant").getAsString(), info.variant().toString());
      JsonElement time = vector.get("createTime");
      assertEquals(time.isJsonNull() ? Optional.empty() : Optional.of(timeOf(time)), info.createTime());
      JsonElement sequence = vector.get("clockSequence");
      OptionalInt clockSequence = sequence.isJsonNull() ? OptionalInt.empty() : OptionalInt.of(sequence.getAsInt());
      assertEquals(clockSequence, info.clockSequence());
      JsonElement node = vector.get("node");
      assertEquals(node.isJsonNull() ? Optional.empty() : Optional.of(node.getAsString()), info.node());
      if (vector.has("id")) assertEquals(idOf(vector), reading.id());
    }
  }

  @Test
  void refused() {
    JsonObject content = load("refused");
    Instant now = Instant.ofEpochMilli(content.get("nowMs").getAsLong());
    for (JsonObject vector : vectors(content)) {
      // A long holds 64 bits: a number of more cannot be given to this client at all.
      if (vector.has("id") && new BigInteger(vector.get("id").getAsString()).bitLength() > 64) continue;
      Layout layout = LAYOUTS.get(vector.get("layout").getAsString());
      TextCodec codec = new TextCodec(layout, content.get("namespace").getAsString());
      boolean isText = vector.get("kind").getAsString().equals("text");
      SnowlaneException error =
          assertThrows(
              SnowlaneException.class,
              () -> {
                if (isText) read(codec, vector, now);
                else write(codec, vector);
              },
              vector::toString);
      assertEquals(vector.get("error").getAsString(), error.reason().name(), vector::toString);
      if (isText) assertEquals(metadataOf(vector), error.metadata(), vector::toString);
    }
  }

  private static void read(TextCodec codec, JsonObject vector, Instant now) {
    TextReadOptions options = TextReadOptions.DEFAULTS.withNow(now);
    if (vector.has("typePrefix")) options = options.withTypePrefix(vector.get("typePrefix").getAsString());
    JsonElement form = vector.get("form");
    codec.read(vector.get("text").getAsString(), form.isJsonNull() ? options : options.withForm(formOf(form)));
  }

  private static void write(TextCodec codec, JsonObject vector) {
    // An ID above 2^63 - 1 cannot be said in a signed long but by its sign.
    long id = vector.has("id") ? new BigInteger(vector.get("id").getAsString()).longValue() : 0;
    codec.write(id, formatOf(vector.getAsJsonObject("format")));
  }

  private static Map<String, String> metadataOf(JsonObject vector) {
    Map<String, String> metadata = new HashMap<>();
    for (Map.Entry<String, JsonElement> entry : vector.getAsJsonObject("metadata").entrySet()) {
      metadata.put(entry.getKey(), entry.getValue().getAsString());
    }
    return metadata;
  }

  @Test
  void publishedTexts() {
    for (JsonObject vector : vectors(load("published-texts"))) {
      long number = Long.parseLong(vector.get("number").getAsString());
      TextCodec codec = new TextCodec(Layout.preset("twitter"), "default");
      TextFormat format = formatOf(vector);
      assertEquals(vector.get("text").getAsString(), codec.write(number, format));
      TextReadOptions options = TextReadOptions.DEFAULTS.withForm(format.form());
      assertEquals(OptionalLong.of(number), codec.read(vector.get("text").getAsString(), options).id());
    }
  }

  @Test
  void publishedIds() {
    for (JsonObject vector : vectors(load("published-ids"))) {
      JsonElement named = vector.get("layout");
      Layout layout = named.isJsonPrimitive() ? Layout.preset(named.getAsString()) : layoutOf(named.getAsJsonObject());
      ParsedId parsed = layout.parse(idOf(vector).getAsLong());
      if (vector.has("ticks")) assertEquals(vector.get("ticks").getAsLong(), parsed.ticks());
      if (vector.has("sequence")) assertEquals(vector.get("sequence").getAsLong(), parsed.sequence().orElseThrow());
      if (vector.has("workerId")) assertEquals(vector.get("workerId").getAsLong(), parsed.workerId().orElseThrow());
      if (!vector.has("createTime")) continue;
      String published = vector.get("createTime").getAsString();
      // Some were published without milliseconds.
      ChronoUnit unit = published.contains(".") ? ChronoUnit.MILLIS : ChronoUnit.SECONDS;
      assertEquals(Instant.parse(published), parsed.createTime().truncatedTo(unit));
    }
  }

  @Test
  void publicIds() {
    for (JsonObject vector : vectors(load("public-ids"))) {
      byte[] key = HexFormat.of().parseHex(vector.get("key").getAsString());
      int bits = vector.get("bits").getAsInt();
      long id = Long.parseUnsignedLong(vector.get("id").getAsString());
      long publicId = Long.parseUnsignedLong(vector.get("publicId").getAsString());
      assertEquals(publicId, new NumberPermutation(key, bits).apply(id));
      assertEquals(id, new NumberPermutation(key, bits).invert(publicId));
      if (bits != 63) continue;
      assertEquals(publicId, new PublicId(key).hide(id));
      assertEquals(id, new PublicId(key).reveal(publicId));
      SnowlaneException error = assertThrows(SnowlaneException.class, () -> new PublicId(key).hide(-1));
      assertEquals(ErrorReason.MALFORMED_ID, error.reason());
    }
    assertThrows(IllegalArgumentException.class, () -> new PublicId(new byte[15]));
  }

  @Test
  void sipHash() {
    for (JsonElement element : load("public-ids").getAsJsonArray("sipHash")) {
      JsonObject vector = element.getAsJsonObject();
      byte[] message = HexFormat.of().parseHex(vector.get("message").getAsString());
      byte[] filled = Arrays.copyOf(message, (message.length / Long.BYTES + 1) * Long.BYTES);
      filled[filled.length - 1] = (byte) message.length;
      LongBuffer key = wordsOf(HexFormat.of().parseHex(vector.get("key").getAsString()));
      long[] blocks = new long[filled.length / Long.BYTES];
      wordsOf(filled).get(blocks);
      long hash = new SipHash(key.get(), key.get()).hash(blocks);
      assertEquals(vector.get("hash").getAsString(), HexFormat.of().toHexDigits(hash));
    }
  }

  private static LongBuffer wordsOf(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
  }

  @Test
  void everyPermutationUpTo16BitsIsOne() {
    for (int bits = 2; bits <= 16; bits++) {
      NumberPermutation permutation = new NumberPermutation(new byte[16], bits);
      boolean[] isReached = new boolean[1 << bits];
      for (int number = 0; number < isReached.length; number++) {
        long image = permutation.apply(number);
        assertFalse(isReached[(int) image]);
        isReached[(int) image] = true;
        assertEquals(number, permutation.invert(image));
      }
    }
  }

  @Test
  void aNumberThatIsNoIdIsRefused() {
    for (Layout layout : List.of(Layout.preset("twitter"), Layout.preset("javascript"))) {
      for (long id : new long[] {-1, Long.MIN_VALUE}) {
        SnowlaneException error = assertThrows(SnowlaneException.class, () -> layout.parse(id));
        assertEquals(ErrorReason.MALFORMED_ID, error.reason());
      }
    }
    assertThrows(SnowlaneException.class, () -> Layout.preset("javascript").parse(1L << 53));
  }

  @Test
  void layoutsThatCannotBeAreRefused() {
    LayoutField time = new LayoutField(LayoutField.Kind.TIMESTAMP, 41);
    LayoutField worker = new LayoutField(LayoutField.Kind.WORKER, 11);
    LayoutField sequence = new LayoutField(LayoutField.Kind.SEQUENCE, 12);
    List<List<LayoutField>> bad =
        List.of(
            List.of(),
            List.of(sequence),
            List.of(time, time),
            List.of(time, worker, sequence),
            List.of(new LayoutField(LayoutField.Kind.TIMESTAMP, 0)),
            List.of(time, new LayoutField(LayoutField.Kind.SEQUENCE, 33)));
    for (List<LayoutField> fields : bad) refusedLayout(Instant.EPOCH, Duration.ofMillis(1), fields);
    List<LayoutField> good = List.of(time, sequence);
    refusedLayout(Instant.MAX, Duration.ofMillis(1), good);
    refusedLayout(Instant.ofEpochSecond(0, 1), Duration.ofMillis(1), good);
    refusedLayout(Instant.EPOCH, Duration.ofNanos(1_500_000), good);
    refusedLayout(Instant.EPOCH, Duration.ofDays(1_000_000), good);
    assertThrows(SnowlaneException.class, () -> Layout.preset("facebook"));
    assertNotEquals(Layout.preset("twitter"), Layout.preset("twitter").withEpoch(Instant.EPOCH));
  }

  private static void refusedLayout(Instant epoch, Duration tick, List<LayoutField> fields) {
    SnowlaneException error =
        assertThrows(SnowlaneException.class, () -> new Layout("custom", epoch, tick, fields));
    assertEquals(ErrorReason.INVALID_LAYOUT, error.reason());
  }

  @Test
  void neighbouringIntervalsGiveNeighbouringRanges() {
    Layout layout = Layout.preset("twitter");
    Instant start = Instant.parse("2026-01-01T00:00:00Z");
    IdRange first = layout.idRange(start, start.plusSeconds(1));
    IdRange second = layout.idRange(start.plusSeconds(1), start.plusSeconds(2));
    assertEquals(first.lastId() + 1, second.firstId());
    assertEquals(start, layout.parse(first.firstId()).createTime());
    assertEquals(Long.MAX_VALUE, layout.idRange(start, Instant.MAX).lastId());
    assertEquals(0, layout.idRange(Instant.MIN, start).firstId());
    for (Instant end : List.of(start, start.minusSeconds(1), Instant.MIN)) {
      SnowlaneException error = assertThrows(SnowlaneException.class, () -> layout.idRange(start, end));
      assertEquals(ErrorReason.INVALID_TIME_RANGE, error.reason());
    }
    assertThrows(SnowlaneException.class, () -> layout.idRange(Instant.MIN, Instant.EPOCH));
    assertThrows(SnowlaneException.class, () -> layout.idRange(start.plusNanos(1), start.plusNanos(2)));
  }
}
