package dev.snowlane.jackson;

import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdScalarDeserializer;

/** Reads an ID from a string of 1 to 19 digits, or from an integer, and from nothing else. For Jackson 3. */
public final class Jackson3IdDeserializer extends StdScalarDeserializer<Long> {

  /** Called by Jackson. */
  public Jackson3IdDeserializer() {
    super(Long.class);
  }

  @Override
  public Long deserialize(JsonParser parser, DeserializationContext context) {
    if (parser.hasToken(JsonToken.VALUE_NUMBER_INT)) return parser.getLongValue();
    if (!parser.hasToken(JsonToken.VALUE_STRING)) return (Long) context.handleUnexpectedToken(getValueType(context), parser);
    String text = parser.getString();
    Long id = IdDigits.read(text);
    if (id != null) return id;
    return (Long) context.handleWeirdStringValue(Long.class, text, "an ID has 1 to 19 digits, and is at most 2^63 - 1");
  }

  /** An ID that is missing must not become 0. */
  @Override
  public Long getNullValue(DeserializationContext context) {
    return null;
  }
}
