package dev.snowlane.client;

import java.util.HashMap;
import java.util.Map;

/** Crockford's base 32, https://www.crockford.com/base32.html: 13 symbols, and a check symbol if asked for. */
final class Base32 {

  private static final String ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  private static final String CHECK_ALPHABET = ALPHABET + "*~$=U";
  private static final int CHECK_MODULUS = 37;
  private static final Map<Character, Character> ALIASES = new HashMap<>();

  static {
    for (char symbol : ALPHABET.toCharArray()) ALIASES.put(Character.toLowerCase(symbol), symbol);
    for (char alias : "IiLl".toCharArray()) ALIASES.put(alias, '1');
    for (char alias : "Oo".toCharArray()) ALIASES.put(alias, '0');
  }

  private static final Radix RADIX = new Radix(TextForm.BASE32, ALPHABET, 13, ALIASES);
  static final int LENGTH = RADIX.width;

  private Base32() {}

  static String write(long id, boolean checkSymbol) {
    String text = RADIX.write(id);
    return checkSymbol ? text + checkSymbolOf(id) : text;
  }

  /**
   * Reads 13 symbols, or 14 of which the last is the check symbol. As in Crockford's definition, lower-case letters
   * count as capitals, I and L as 1, and O as 0. Unlike it, this form has no hyphens.
   */
  static long read(String text) {
    long id = RADIX.readDigits(text, 0);
    int check = hasCheckSymbol(text) ? checkValue(text.charAt(LENGTH)) : 0;
    if (check < 0) throw TextFault.CHARACTER.at(LENGTH, TextForm.BASE32);
    if (text.length() > LENGTH + 1) throw TextFault.TOO_LONG.at(LENGTH + 1, TextForm.BASE32);
    if (id < 0) throw TextFault.OUT_OF_RANGE.at(0, TextForm.BASE32);
    if (hasCheckSymbol(text) && check != id % CHECK_MODULUS) throw TextFault.CHECK_SYMBOL.at(LENGTH, TextForm.BASE32);
    return id;
  }

  static boolean hasCheckSymbol(String text) {
    return text.length() > LENGTH;
  }

  private static int checkValue(char symbol) {
    char canonical = symbol == 'u' ? 'U' : symbol;
    int value = CHECK_ALPHABET.indexOf(canonical);
    return value >= 0 ? value : CHECK_ALPHABET.indexOf(ALIASES.getOrDefault(symbol, '\0'));
  }

  private static char checkSymbolOf(long id) {
    return CHECK_ALPHABET.charAt((int) (id % CHECK_MODULUS));
  }
}
