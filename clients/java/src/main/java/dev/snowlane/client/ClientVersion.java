package dev.snowlane.client;

/** The version of this client; servers see it in the user agent. */
final class ClientVersion {

  static final String VERSION = "0.1.0";

  private ClientVersion() {}
}
