package dev.snowlane.client;

import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * How to write an ID.
 *
 * @param serialPrefix for serial numbers: the prefix of the digits, 0 to 16 characters of A-Z and 0-9
 * @param utcOffsetMinutes for serial numbers: minutes east of UTC of the time in the text, -1,080 to 1,080
 * @param checkSymbol for base 32: whether a check symbol follows
 * @param typePrefix for typed IDs, which must have one: the prefix before the underscore, a letter of a-z, then 0 to 15
 *     characters of a-z and 0-9
 */
public record TextFormat(
    TextForm form, String serialPrefix, int utcOffsetMinutes, boolean checkSymbol, String typePrefix) {

  static final int SERIAL_PREFIX_LENGTH_MAX = 16;
  private static final int UTC_OFFSET_MINUTES_MAX = 1_080;
  private static final Pattern SERIAL_PREFIX = Pattern.compile("[A-Z0-9]{0,16}");
  private static final Pattern TYPE_PREFIX = Pattern.compile("[a-z][a-z0-9]{0,15}");

  public TextFormat {
    Objects.requireNonNull(form, "form");
    Objects.requireNonNull(serialPrefix, "serialPrefix");
    Objects.requireNonNull(typePrefix, "typePrefix");
  }

  /** A form without options. */
  public static TextFormat of(TextForm form) {
    return new TextFormat(form, "", 0, false, "");
  }

  /** Serial numbers with a prefix, at an offset from UTC. */
  public static TextFormat serial(String prefix, int utcOffsetMinutes) {
    return new TextFormat(TextForm.SERIAL, prefix, utcOffsetMinutes, false, "");
  }

  /** Base 32 with a check symbol. */
  public static TextFormat base32Checked() {
    return new TextFormat(TextForm.BASE32, "", 0, true, "");
  }

  /** Typed IDs with a prefix. */
  public static TextFormat typed(String prefix) {
    return new TextFormat(TextForm.TYPED, "", 0, false, prefix);
  }

  /**
   * @throws SnowlaneException INVALID_TEXT_FORMAT unless each option is in its range, and the form uses it
   */
  void check() {
    boolean isSerial = form == TextForm.SERIAL;
    if (!isSerial && !serialPrefix.isEmpty()) throw invalid("Only serial numbers have a prefix.", "form", form);
    if (!isSerial && utcOffsetMinutes != 0) {
      throw invalid("Only serial numbers have an offset from UTC.", "form", form);
    }
    if (form != TextForm.BASE32 && checkSymbol) throw invalid("Only base 32 has a check symbol.", "form", form);
    if (!SERIAL_PREFIX.matcher(serialPrefix).matches()) {
      throw invalid("The prefix of a serial number is not 0 to 16 characters of A-Z and 0-9.", "form", form);
    }
    if (form != TextForm.TYPED && !typePrefix.isEmpty()) {
      throw invalid("Only typed IDs have a type prefix.", "form", form);
    }
    if (form == TextForm.TYPED && !TYPE_PREFIX.matcher(typePrefix).matches()) {
      String message = "The prefix of a typed ID is not a letter of a-z and 0 to 15 characters of a-z and 0-9.";
      throw invalid(message, "form", form);
    }
    checkUtcOffset(utcOffsetMinutes);
  }

  static void checkUtcOffset(int minutes) {
    if (Math.abs((long) minutes) <= UTC_OFFSET_MINUTES_MAX) return;
    String message = "The offset " + minutes + " is not whole minutes from -1080 to 1080.";
    throw invalid(message, "utc_offset_minutes", minutes);
  }

  static SnowlaneException invalid(String message, String key, Object value) {
    return new SnowlaneException(ErrorReason.INVALID_TEXT_FORMAT, message, Map.of(key, value.toString()));
  }
}
