package dev.snowlane.client;

import java.util.Locale;

/**
 * One field of a layout.
 *
 * @param bits its width, 1 to 62
 */
public record LayoutField(Kind kind, int bits) {

  /** What a field holds. */
  public enum Kind {
    TIMESTAMP,
    DATACENTER,
    WORKER,
    SEQUENCE;

    /** Its name in vectors and messages: {@code timestamp}. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
