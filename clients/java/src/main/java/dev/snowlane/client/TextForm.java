package dev.snowlane.client;

import java.util.Locale;

/** The ways to write an ID as text. docs/text-forms.md says what each is for, how long it is and how it sorts. */
public enum TextForm {
  /** 1 to 19 digits without leading zeros. */
  DECIMAL,
  /** {@code 0x} and 16 digits in lower case. */
  HEX,
  /** Crockford's base 32: 13 symbols, then a check symbol if asked for. */
  BASE32,
  /** Base 58 in Bitcoin's alphabet: 11 characters. */
  BASE58,
  /** Base 62 in the order 0-9, A-Z, a-z: 11 characters. */
  BASE62,
  /** Time, worker and sequence in decimal digits. */
  SERIAL,
  /** A UUID of version 7 that holds the whole ID. */
  UUID,
  /** A prefix, an underscore and the ID in base 58. */
  TYPED;

  /** Its name in vectors and in the metadata of errors: {@code base32}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
