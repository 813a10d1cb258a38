package dev.snowlane.client;

import java.util.Map;

/** IDs in decimal and in hexadecimal. */
final class Decimals {

  static final int LENGTH_MAX = 19;
  private static final String HEX_PREFIX = "0x";
  private static final int HEX_LENGTH = HEX_PREFIX.length() + 16;

  private Decimals() {}

  /**
   * @throws SnowlaneException MALFORMED_ID unless an ID is 0 to 2^63 - 1, which every form can write
   */
  static void checkId(long id) {
    if (id >= 0) return;
    Map<String, String> metadata = Map.of("id", Long.toUnsignedString(id));
    throw new SnowlaneException(ErrorReason.MALFORMED_ID, "The ID is not from 0 to 2^63 - 1.", metadata);
  }

  /** Writes 1 to 19 digits without leading zeros. Sorts as the IDs do only among texts of one length. */
  static String write(long id) {
    checkId(id);
    return Long.toString(id);
  }

  /** Reads what {@link #write} writes, and nothing else. */
  static long read(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (i == LENGTH_MAX) throw TextFault.TOO_LONG.at(i, TextForm.DECIMAL);
      if (text.charAt(i) < '0' || text.charAt(i) > '9') throw TextFault.CHARACTER.at(i, TextForm.DECIMAL);
    }
    if (text.isEmpty()) throw TextFault.TOO_SHORT.at(0, TextForm.DECIMAL);
    if (text.length() > 1 && text.charAt(0) == '0') throw TextFault.LEADING_ZERO.at(0, TextForm.DECIMAL);
    long id = Long.parseUnsignedLong(text);
    if (id < 0) throw TextFault.OUT_OF_RANGE.at(0, TextForm.DECIMAL);
    return id;
  }

  /** Writes {@code 0x} and 16 digits in lower case. Sorts as the IDs do. */
  static String writeHex(long id) {
    checkId(id);
    return String.format("0x%016x", id);
  }

  /** Reads what {@link #writeHex} writes, and nothing else: no capitals, no fewer digits. */
  static long readHex(String text) {
    for (int i = 0; i < HEX_LENGTH; i++) {
      if (i >= text.length()) throw TextFault.TOO_SHORT.at(i, TextForm.HEX);
      char character = text.charAt(i);
      boolean isDigit = character >= '0' && character <= '9' || character >= 'a' && character <= 'f';
      boolean fits = i < HEX_PREFIX.length() ? character == HEX_PREFIX.charAt(i) : isDigit;
      if (!fits) throw TextFault.CHARACTER.at(i, TextForm.HEX);
    }
    if (text.length() > HEX_LENGTH) throw TextFault.TOO_LONG.at(HEX_LENGTH, TextForm.HEX);
    long id = Long.parseUnsignedLong(text.substring(HEX_PREFIX.length()), 16);
    if (id < 0) throw TextFault.OUT_OF_RANGE.at(HEX_PREFIX.length(), TextForm.HEX);
    return id;
  }
}
