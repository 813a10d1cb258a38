package dev.snowlane.jackson;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import java.io.IOException;

/** Reads an ID from a string of 1 to 19 digits, or from an integer, and from nothing else. For Jackson 2. */
public final class Jackson2IdDeserializer extends StdScalarDeserializer<Long> {

  private static final long serialVersionUID = 1L;

  /** Called by Jackson. */
  public Jackson2IdDeserializer() {
    super(Long.class);
  }

  @Override
  public Long deserialize(JsonParser parser, DeserializationContext context) throws IOException {
    if (parser.hasToken(JsonToken.VALUE_NUMBER_INT)) return parser.getLongValue();
    if (!parser.hasToken(JsonToken.VALUE_STRING)) return (Long) context.handleUnexpectedToken(Long.class, parser);
    String text = parser.getText();
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
