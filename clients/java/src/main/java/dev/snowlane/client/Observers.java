package dev.snowlane.client;

/** Calls observers. */
final class Observers {

  private Observers() {}

  /** What an observer throws is its own affair: it must not cost a caller an ID. */
  static void tell(Runnable message) {
    try {
      message.run();
    } catch (RuntimeException ignored) {
      // There is nobody to tell.
    }
  }
}
