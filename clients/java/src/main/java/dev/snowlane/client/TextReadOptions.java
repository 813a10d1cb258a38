package dev.snowlane.client;

import java.time.Instant;
import java.util.Optional;

/**
 * How to read a text.
 *
 * @param form the form; empty: it is detected
 * @param utcOffsetMinutes the offset from UTC at which a serial number was written
 * @param typePrefix the prefix that a typed ID must have: the text is then read only as a typed ID; empty: any prefix
 * @param now the limit of detection: no text is taken for an ID that is from more than a day later; empty: the present
 */
public record TextReadOptions(
    Optional<TextForm> form, int utcOffsetMinutes, Optional<String> typePrefix, Optional<Instant> now) {

  /** The form is detected, serial numbers are in UTC. */
  public static final TextReadOptions DEFAULTS =
      new TextReadOptions(Optional.empty(), 0, Optional.empty(), Optional.empty());

  public TextReadOptions withForm(TextForm value) {
    return new TextReadOptions(Optional.of(value), utcOffsetMinutes, typePrefix, now);
  }

  public TextReadOptions withUtcOffsetMinutes(int value) {
    return new TextReadOptions(form, value, typePrefix, now);
  }

  public TextReadOptions withTypePrefix(String value) {
    return new TextReadOptions(form, utcOffsetMinutes, Optional.of(value), now);
  }

  public TextReadOptions withNow(Instant value) {
    return new TextReadOptions(form, utcOffsetMinutes, typePrefix, Optional.of(value));
  }
}
