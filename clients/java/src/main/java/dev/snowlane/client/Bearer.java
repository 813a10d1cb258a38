package dev.snowlane.client;

import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** The value that is sent for a token. */
final class Bearer {

  private static final Pattern PRINTABLE = Pattern.compile("[ -~]+");

  private Bearer() {}

  /**
   * Asks for the token. White space around it is dropped: a file often ends in a line break, and gRPC would send the
   * call without a token that has one.
   *
   * @throws SnowlaneException RPC_FAILED, with the code UNAUTHENTICATED, if it is not a valid token
   */
  static String of(Supplier<String> token) {
    String given = token.get();
    String text = given == null ? "" : given.strip();
    if (PRINTABLE.matcher(text).matches()) return "Bearer " + text;
    String message = "The token is not one line of printable ASCII characters.";
    throw new SnowlaneException(
        ErrorReason.RPC_FAILED, StatusCode.UNAUTHENTICATED, message, Map.of(), null, null, null);
  }
}
