package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.snowlane.client.testing.FakeClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The histories of test/vectors/stock.json, whose README says what their steps are. */
class StockVectorsTest {

  private static final Path FILE = Path.of("../../test/vectors/stock.json");

  /** The stock of a buffer, without timers and without a source. */
  private static final class Player extends Stock {

    private final FakeClock clock;
    private final long maxAgeNanos;
    private final Optional<OutagePolicy> outage;
    private final Map<Long, Moment> asked = new HashMap<>();
    private final List<Answer> all = new ArrayList<>();

    Player(PrefetchOptions options, FakeClock clock) {
      super(new RefillPolicy(options), clock);
      this.clock = clock;
      this.maxAgeNanos = options.maxAge().toNanos();
      this.outage = options.outage().map(time -> new OutagePolicy(options, time));
    }

    @Override
    void markReached(ClaimableRun run) {
      meetMark(run);
    }

    @Override
    void onLow() {}

    @Override
    void onTooOld(Answer answer) {
      drop(answer);
    }

    private void noteAsked(long atMs) {
      policy.noteHandedOut(handedOut());
      asked.put(atMs, new Moment(clock));
    }

    private void answer(JsonObject keys) {
      List<IdRun> runs =
          keys.getAsJsonArray("runs").asList().stream()
              .map(JsonElement::getAsJsonArray)
              .map(run -> new IdRun(run.get(0).getAsLong(), run.get(1).getAsInt(), run.get(2).getAsLong()))
              .toList();
      Moment since = asked.get(keys.get("askedAtMs").getAsLong());
      policy.noteRoundTrip(clock.nanos() - since.nanos());
      boolean isCut = keys.has("pieceSize");
      List<List<IdRun>> pieces = isCut ? Answer.cut(runs, keys.get("pieceSize").getAsInt()) : List.of(runs);
      List<Answer> made = pieces.stream().map(piece -> new Answer(piece, since, maxAgeNanos)).toList();
      if (isCut) addReserve(made);
      else made.forEach(this::add);
      all.addAll(made);
    }

    /** Takes IDs one by one, until none are left, as stretches. */
    private JsonArray claim(int count) {
      JsonArray stretches = new JsonArray();
      long first = 0;
      long last = 0;
      long stride = 1;
      int length = 0;
      long[] id = new long[1];
      for (int left = count; left > 0 && claimNext(id, 0) > 0; left--) {
        boolean goesOn = length == 1 ? id[0] > last : length > 1 && id[0] == last + stride;
        if (goesOn) {
          stride = id[0] - last;
          length++;
        } else {
          if (length > 0) stretches.add(stretch(first, length, stride));
          first = id[0];
          length = 1;
          stride = 1;
        }
        last = id[0];
      }
      if (length > 0) stretches.add(stretch(first, length, stride));
      return stretches;
    }

    private static JsonArray stretch(long first, int count, long stride) {
      JsonArray stretch = new JsonArray();
      stretch.add("" + first);
      stretch.add(count);
      stretch.add(stride);
      return stretch;
    }

    private void look(JsonObject played, long atMs) {
      OutagePolicy reserve = outage.orElseThrow();
      int pieceSize = policy.secondCount();
      reserve.noteHandedOut(handedOut());
      int count = reserve.reserveCount(reserveState(reserve.youngNanos()), pieceSize);
      if (count > 0) noteAsked(atMs);
      played.addProperty("pieceSize", pieceSize);
      played.addProperty("count", count);
    }

    /** Runs a step, and returns its arguments with its results. */
    JsonObject play(String what, long atMs, JsonObject keys) {
      clock.advance(Duration.ofMillis(atMs - TimeUnit.NANOSECONDS.toMillis(clock.nanos())));
      JsonObject played = keys.deepCopy();
      switch (what) {
        case "ask" -> {
          noteAsked(atMs);
          played.addProperty("count", policy.reserveCount());
        }
        case "answer", "answer reserve" -> answer(keys);
        case "claim" -> {
          played.add("ids", claim(keys.get("count").getAsInt()));
          played.addProperty("isDue", isLow() || stockCount() == 0);
        }
        case "look" -> look(played, atMs);
        case "expire" -> {
          long before = dropped();
          all.stream().filter(Answer::isTooOld).forEach(this::drop);
          played.addProperty("dropped", dropped() - before);
          played.addProperty("stock", stockCount());
        }
        default -> throw new IllegalArgumentException(what);
      }
      return played;
    }
  }

  private static Stream<JsonObject> histories() {
    try {
      JsonObject file = JsonParser.parseString(Files.readString(FILE)).getAsJsonObject();
      return file.getAsJsonArray("vectors").asList().stream().map(JsonElement::getAsJsonObject);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static PrefetchOptions optionsOf(JsonObject given) {
    Duration outage = Duration.ofMillis(given.get("outageMs").getAsLong());
    PrefetchOptions options = PrefetchOptions.DEFAULTS;
    if (!outage.isZero()) options = options.withOutage(outage);
    return options
        .withMaxAge(Duration.ofMillis(given.get("maxAgeMs").getAsLong()))
        .withCounts(given.get("countMin").getAsInt(), given.get("countMax").getAsInt())
        .withStockMax(given.get("stockMax").getAsLong());
  }

  @ParameterizedTest
  @MethodSource("histories")
  void theStockDecidesAsInEveryLanguage(JsonObject history) {
    Player player = new Player(optionsOf(history.getAsJsonObject("options")), new FakeClock());
    int index = 0;
    for (JsonElement element : history.getAsJsonArray("steps")) {
      JsonArray step = element.getAsJsonArray();
      JsonObject keys = step.get(2).getAsJsonObject();
      JsonObject played = player.play(step.get(0).getAsString(), step.get(1).getAsLong(), keys);
      assertEquals(keys.toString(), played.toString(), history.get("name") + ", step " + index);
      index++;
    }
  }
}
