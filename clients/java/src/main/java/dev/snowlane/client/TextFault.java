package dev.snowlane.client;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** What can be wrong with a text. The metadata has the name as {@code reason}, in lower case. */
enum TextFault {
  CHARACTER("an unexpected character"),
  TOO_SHORT("the text ends too early"),
  TOO_LONG("the text should end here"),
  LEADING_ZERO("a leading zero"),
  OUT_OF_RANGE("a number that is too large"),
  CHECK_SYMBOL("a check symbol that does not match the symbols before it"),
  DATE("not a valid date and time"),
  TICK("a time at which no tick of the layout begins"),
  PREFIX("a type prefix that is malformed, or not the expected one"),
  /** Detection only. */
  NO_FORM("the text is not recognized as an ID"),
  /** Detection only. */
  FUTURE("an ID whose time is later than tomorrow, or that does not fit this layout");

  private final String sentence;

  TextFault(String sentence) {
    this.sentence = sentence;
  }

  /**
   * Makes a MALFORMED_TEXT error. The text is not repeated: it may be huge, or a secret that was pasted by mistake.
   *
   * @param form null if it is not known
   */
  SnowlaneException at(int position, TextForm form) {
    Map<String, String> metadata = new LinkedHashMap<>();
    if (form != null) metadata.put("form", form.toString());
    metadata.put("reason", name().toLowerCase(Locale.ROOT));
    metadata.put("position", "" + position);
    String subject = form == null ? "The text" : "As " + form + ", the text";
    String message = subject + " is malformed at position " + position + ": " + sentence + ".";
    return new SnowlaneException(ErrorReason.MALFORMED_TEXT, message, metadata);
  }
}
