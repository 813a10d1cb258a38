package dev.snowlane.client;

/**
 * The position of a field in an ID. All 0 if a layout has no such field.
 *
 * @param bits its width
 * @param shift the bits below it
 * @param max its highest value, inclusive; for a timestamp the last tick of the layout's life
 */
record FieldPlace(int bits, int shift, long max) {

  static final FieldPlace NONE = new FieldPlace(0, 0, 0);

  long read(long id) {
    return id >>> shift & (1L << bits) - 1;
  }

  boolean exists() {
    return bits > 0;
  }
}
