package dev.snowlane.client;

import java.time.Instant;
import java.util.Optional;

/**
 * How to read a text.
 *
 * @param form the form; empty: it is detected
 * @param utcOffsetMinutes the offset from UTC at which a serial number was written
 * @param now detection takes no text for an ID that would be from more than a day later; empty: the present
 */
public record TextReadOptions(Optional<TextForm> form, int utcOffsetMinutes, Optional<Instant> now) {

  /** The form is detected, serial numbers are in UTC. */
  public static final TextReadOptions DEFAULTS = new TextReadOptions(Optional.empty(), 0, Optional.empty());

  public TextReadOptions withForm(TextForm value) {
    return new TextReadOptions(Optional.of(value), utcOffsetMinutes, now);
  }

  public TextReadOptions withUtcOffsetMinutes(int value) {
    return new TextReadOptions(form, value, now);
  }

  public TextReadOptions withNow(Instant value) {
    return new TextReadOptions(form, utcOffsetMinutes, Optional.of(value));
  }
}
