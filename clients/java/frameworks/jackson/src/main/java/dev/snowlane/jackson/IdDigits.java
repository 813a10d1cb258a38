package dev.snowlane.jackson;

import java.util.regex.Pattern;

/** Reads decimal IDs. */
final class IdDigits {

  private static final Pattern DIGITS = Pattern.compile("[0-9]{1,19}");

  private IdDigits() {}

  /** The ID, or null if the text is not one. */
  static Long read(String text) {
    if (!DIGITS.matcher(text).matches()) return null;
    try {
      return Long.valueOf(text);
    } catch (NumberFormatException aboveLong) {
      return null;
    }
  }
}
