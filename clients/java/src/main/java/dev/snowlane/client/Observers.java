package dev.snowlane.client;

/** Calls observers. */
final class Observers {

  private Observers() {}

  /** Calls an observer. What it throws is ignored: it must not cost a caller an ID. */
  static void tell(Runnable message) {
    try {
      message.run();
    } catch (RuntimeException ignored) {
      // No one can be informed of it.
    }
  }
}
