package dev.snowlane.client;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Map;

/** IDs as digits of a fixed width, which sort as the IDs do where texts are compared by their bytes. */
final class Radix {

  /** Bitcoin's alphabet, https://github.com/bitcoin/bitcoin/blob/master/src/base58.cpp: no 0, O, I and l. */
  private static final String BASE58_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

  static final Radix BASE58 = new Radix(TextForm.BASE58, BASE58_ALPHABET, 11, Map.of());

  /** The number of a typed ID. */
  static final Radix TYPED = new Radix(TextForm.TYPED, BASE58_ALPHABET, 11, Map.of());

  /** In the order of ASCII. */
  static final Radix BASE62 =
      new Radix(TextForm.BASE62, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 11, Map.of());

  final int width;
  private final TextForm form;
  private final String alphabet;
  private final byte[] digits = new byte[128];

  /**
   * @param alphabet the digits from 0 up, ASCII in ascending order
   * @param width digits of a text: as many as 2^63 - 1 needs
   * @param aliases characters that are read as digits but never written
   */
  Radix(TextForm form, String alphabet, int width, Map<Character, Character> aliases) {
    this.form = form;
    this.alphabet = alphabet;
    this.width = width;
    Arrays.fill(digits, (byte) -1);
    for (int digit = 0; digit < alphabet.length(); digit++) digits[alphabet.charAt(digit)] = (byte) digit;
    aliases.forEach((alias, symbol) -> digits[alias] = (byte) alphabet.indexOf(symbol));
  }

  /**
   * @throws SnowlaneException MALFORMED_ID
   */
  String write(long id) {
    Decimals.checkId(id);
    char[] text = new char[width];
    long rest = id;
    for (int i = width - 1; i >= 0; i--) {
      text[i] = alphabet.charAt((int) (rest % alphabet.length()));
      rest /= alphabet.length();
    }
    return new String(text);
  }

  /** Reads what {@link #write} writes, and nothing else. */
  long read(String text) {
    return read(text, 0);
  }

  /** Reads what {@link #write} writes, from {@code start} on, and nothing else. */
  long read(String text, int start) {
    long id = readDigits(text, start);
    if (text.length() > start + width) throw TextFault.TOO_LONG.at(start + width, form);
    if (id < 0) throw TextFault.OUT_OF_RANGE.at(start, form);
    return id;
  }

  /**
   * Reads the digits from {@code start} on; negative if their number is above 2^63 - 1. The caller checks the rest of
   * the text.
   */
  long readDigits(String text, int start) {
    BigInteger base = BigInteger.valueOf(alphabet.length());
    BigInteger number = BigInteger.ZERO;
    for (int i = start; i < start + width; i++) {
      if (i >= text.length()) throw TextFault.TOO_SHORT.at(i, form);
      char character = text.charAt(i);
      int digit = character < digits.length ? digits[character] : -1;
      if (digit < 0) throw TextFault.CHARACTER.at(i, form);
      number = number.multiply(base).add(BigInteger.valueOf(digit));
    }
    return number.bitLength() > 63 ? -1 : number.longValue();
  }
}
