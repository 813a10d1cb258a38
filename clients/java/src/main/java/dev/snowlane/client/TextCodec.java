package dev.snowlane.client;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes and reads the text forms of the IDs of one layout and namespace. */
public final class TextCodec {

  /** The forms whose shape says so little that detection requires a plausible time as well. */
  private static final Set<TextForm> TELLS_BY_TIME = EnumSet.of(TextForm.BASE32, TextForm.BASE58, TextForm.BASE62);

  private static final Duration DAY = Duration.ofDays(1);

  /** Above the longest text of any form, which is a serial number of 56 characters. */
  private static final int LENGTH_MAX = 64;

  private static final Pattern WHOLE_NUMBER = Pattern.compile("0|[1-9][0-9]*");
  private static final Pattern DIGITS = Pattern.compile("[0-9]+");
  private static final Pattern NOT_BASE58 = Pattern.compile("[0OIl]");

  private final Layout layout;
  private final SerialCodec serial;
  private final UuidCodec uuids;

  /**
   * @param namespace the deployment's; it marks the UUIDs, nothing else depends on it
   */
  public TextCodec(Layout layout, String namespace) {
    this.layout = layout;
    this.serial = new SerialCodec(layout);
    this.uuids = new UuidCodec(layout, namespace);
  }

  Layout layout() {
    return layout;
  }

  /** Like {@link #write(long, TextFormat)}, without options. */
  public String write(long id, TextForm form) {
    return write(id, TextFormat.of(form));
  }

  /**
   * Writes an ID.
   *
   * @throws SnowlaneException INVALID_TEXT_FORMAT, also for a time that the form cannot express; MALFORMED_ID for a
   *     number that is not an ID or, in the forms SERIAL and UUID, not an ID of the layout
   */
  public String write(long id, TextFormat format) {
    format.check();
    return switch (format.form()) {
      case DECIMAL -> Decimals.write(id);
      case HEX -> Decimals.writeHex(id);
      case BASE32 -> Base32.write(id, format.checkSymbol());
      case BASE58 -> Radix.BASE58.write(id);
      case BASE62 -> Radix.BASE62.write(id);
      case SERIAL -> serial.write(id, format.serialPrefix(), format.utcOffsetMinutes());
      case UUID -> uuids.write(id);
      case TYPED -> TypedCodec.write(id, format.typePrefix());
    };
  }

  /**
   * Writes an ID in every form in which it has a text, without options.
   *
   * @throws SnowlaneException MALFORMED_ID
   */
  public Map<TextForm, String> writeAll(long id) {
    Map<TextForm, String> texts = new EnumMap<>(TextForm.class);
    for (TextForm form : TextForm.values()) {
      try {
        texts.put(form, write(id, form));
      } catch (SnowlaneException error) {
        if (error.reason() != ErrorReason.INVALID_TEXT_FORMAT) throw error;
      }
    }
    return texts;
  }

  /** Like {@link #read(String, TextReadOptions)}; the form is detected. */
  public TextReading read(String text) {
    return read(text, TextReadOptions.DEFAULTS);
  }

  /**
   * Reads a text strictly: each ID has one text in a format, and no other text is accepted, except Crockford's aliases
   * and capitals in UUIDs. The work is bounded, however long the text is.
   *
   * @throws SnowlaneException MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_TEXT_FORMAT
   */
  public TextReading read(String text, TextReadOptions options) {
    TextFormat.checkUtcOffset(options.utcOffsetMinutes());
    if (options.typePrefix().isPresent()) {
      TextForm form = options.form().orElse(TextForm.TYPED);
      new TextFormat(form, "", 0, false, options.typePrefix().get()).check();
      return readAs(form, text, options);
    }
    if (options.form().isPresent()) return readAs(options.form().get(), text, options);
    return detect(text, options, options.now().orElseGet(Instant::now));
  }

  private TextReading readAs(TextForm form, String text, TextReadOptions options) {
    return switch (form) {
      case DECIMAL -> plain(form, Decimals.read(text));
      case HEX -> plain(form, Decimals.readHex(text));
      case BASE58 -> plain(form, Radix.BASE58.read(text));
      case BASE62 -> plain(form, Radix.BASE62.read(text));
      case BASE32 -> {
        OptionalLong id = OptionalLong.of(Base32.read(text));
        TextFormat format = new TextFormat(form, "", 0, Base32.hasCheckSymbol(text), "");
        yield new TextReading(format, id, Optional.empty());
      }
      case SERIAL -> {
        SerialCodec.Reading reading = serial.read(text, options.utcOffsetMinutes());
        TextFormat format = TextFormat.serial(reading.prefix(), options.utcOffsetMinutes());
        yield new TextReading(format, OptionalLong.of(reading.id()), Optional.empty());
      }
      case UUID -> {
        UUID uuid = UuidCodec.read(text);
        yield new TextReading(TextFormat.of(form), uuids.idOf(uuid), Optional.of(UuidInfo.of(uuid)));
      }
      case TYPED -> {
        TypedCodec.Reading reading = TypedCodec.read(text, options.typePrefix());
        TextFormat format = TextFormat.typed(reading.prefix());
        yield new TextReading(format, OptionalLong.of(reading.id()), Optional.empty());
      }
    };
  }

  private static TextReading plain(TextForm form, long id) {
    return new TextReading(TextFormat.of(form), OptionalLong.of(id), Optional.empty());
  }

  private TextReading detect(String text, TextReadOptions options, Instant now) {
    List<TextForm> candidates = formsOfShape(text, serial.digitCount);
    List<TextReading> readings = new ArrayList<>();
    SnowlaneException fault = null;
    for (TextForm form : candidates) {
      try {
        TextReading reading = readAs(form, text, options);
        if (!TELLS_BY_TIME.contains(form) || isFromBefore(reading.id(), now.plus(DAY))) readings.add(reading);
      } catch (SnowlaneException error) {
        fault = error;
      }
    }
    if (readings.size() == 1) return readings.get(0);
    if (readings.isEmpty()) {
      if (fault != null) throw fault;
      throw TextFault.FUTURE.at(0, candidates.get(candidates.size() - 1));
    }
    String names =
        readings.stream().map(reading -> reading.format().form().toString()).collect(Collectors.joining(","));
    String message = "The text can be read as " + names + ": say which.";
    throw new SnowlaneException(ErrorReason.AMBIGUOUS_TEXT, message, Map.of("candidates", names));
  }

  private boolean isFromBefore(OptionalLong id, Instant time) {
    return id.isPresent()
        && layout.fits(id.getAsLong())
        && layout.ticksToMs(layout.timestamp.read(id.getAsLong())) < time.toEpochMilli();
  }

  /** Names the forms that a text can be in, judged by its shape alone. Looks at no more than 65 characters. */
  private static List<TextForm> formsOfShape(String text, int serialDigitCount) {
    for (int i = 0; i < text.length(); i++) {
      if (i == LENGTH_MAX) throw TextFault.TOO_LONG.at(i, null);
      if (text.charAt(i) <= ' ' || text.charAt(i) >= 127) throw TextFault.CHARACTER.at(i, null);
    }
    if (text.isEmpty()) throw TextFault.TOO_SHORT.at(0, null);
    if (text.startsWith("0x")) return List.of(TextForm.HEX);
    if (text.indexOf(TypedCodec.SEPARATOR) >= 0) return List.of(TextForm.TYPED);
    if (text.contains("-")) return List.of(TextForm.UUID);
    int digitsAt = text.length() - serialDigitCount;
    if (digitsAt >= 0 && DIGITS.matcher(text.substring(digitsAt)).matches()) return List.of(TextForm.SERIAL);
    // This comes before the widths: 11 or 13 digits are far more often a number than another form without a single
    // letter.
    if (WHOLE_NUMBER.matcher(text).matches()) return List.of(TextForm.DECIMAL);
    if (text.length() == Base32.LENGTH || text.length() == Base32.LENGTH + 1) return List.of(TextForm.BASE32);
    if (text.length() == Radix.BASE58.width) {
      boolean isBase62 = NOT_BASE58.matcher(text).find();
      return isBase62 ? List.of(TextForm.BASE62) : List.of(TextForm.BASE58, TextForm.BASE62);
    }
    throw TextFault.NO_FORM.at(0, null);
  }
}
