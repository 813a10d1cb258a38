package dev.snowlane.client;

import java.util.Optional;

/** Typed IDs: a prefix, an underscore and the ID in base 58. */
final class TypedCodec {

  static final char SEPARATOR = '_';

  private static final int PREFIX_LENGTH_MAX = 16;

  private TypedCodec() {}

  /** The result of reading a text. */
  record Reading(long id, String prefix) {}

  /** The prefix must be in its range. */
  static String write(long id, String prefix) {
    return prefix + SEPARATOR + Radix.TYPED.write(id);
  }

  /**
   * Reads what {@link #write} writes, and nothing else. The prefix ends at the first separator.
   *
   * @param expectedPrefix the only prefix that is accepted; empty: any
   */
  static Reading read(String text, Optional<String> expectedPrefix) {
    int prefixLength = lengthOfPrefix(text);
    String prefix = text.substring(0, prefixLength);
    if (expectedPrefix.isPresent() && !prefix.equals(expectedPrefix.get())) {
      throw TextFault.PREFIX.at(0, TextForm.TYPED);
    }
    return new Reading(Radix.TYPED.read(text, prefixLength + 1), prefix);
  }

  /** Characters before the separator. */
  private static int lengthOfPrefix(String text) {
    for (int i = 0; i < text.length(); i++) {
      char character = text.charAt(i);
      if (character == SEPARATOR && i > 0) return i;
      boolean isLetter = character >= 'a' && character <= 'z';
      boolean fits = isLetter || i > 0 && character >= '0' && character <= '9';
      if (!fits || i == PREFIX_LENGTH_MAX) throw TextFault.PREFIX.at(i, TextForm.TYPED);
    }
    throw TextFault.TOO_SHORT.at(text.length(), TextForm.TYPED);
  }
}
