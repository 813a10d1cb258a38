package dev.snowlane.client;

import dev.snowlane.client.LayoutField.Kind;
import dev.snowlane.v1.GetInfoResponse;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads the layout that a server reports. */
final class LayoutResponse {

  private LayoutResponse() {}

  /**
   * @throws SnowlaneException INVALID_RESPONSE, INVALID_LAYOUT, if it is not a Snowlane server
   */
  static Layout read(GetInfoResponse info) {
    dev.snowlane.v1.Layout message = info.getLayout();
    if (!info.hasLayout() || !message.hasEpochTime() || !message.hasTick()) {
      throw invalid("The server did not send its layout.", "layout", message.getName());
    }
    List<LayoutField> fields = new ArrayList<>();
    for (dev.snowlane.v1.LayoutField field : message.getFieldsList()) {
      fields.add(new LayoutField(kindOf(field), field.getBits()));
    }
    try {
      Instant epoch =
          Instant.ofEpochSecond(message.getEpochTime().getSeconds(), message.getEpochTime().getNanos());
      Duration tick = Duration.ofSeconds(message.getTick().getSeconds(), message.getTick().getNanos());
      return new Layout(message.getName(), epoch, tick, fields);
    } catch (DateTimeException | ArithmeticException tooFar) {
      throw invalid("The server's layout begins outside of time.", "layout", message.getName());
    }
  }

  private static Kind kindOf(dev.snowlane.v1.LayoutField field) {
    return switch (field.getKind()) {
      case LAYOUT_FIELD_KIND_TIMESTAMP -> Kind.TIMESTAMP;
      case LAYOUT_FIELD_KIND_DATACENTER -> Kind.DATACENTER;
      case LAYOUT_FIELD_KIND_WORKER -> Kind.WORKER;
      case LAYOUT_FIELD_KIND_SEQUENCE -> Kind.SEQUENCE;
      default -> {
        int kind = field.getKindValue();
        throw invalid("The server's layout has a field of kind " + kind + ".", "kind", "" + kind);
      }
    };
  }

  private static SnowlaneException invalid(String message, String key, String value) {
    return new SnowlaneException(ErrorReason.INVALID_RESPONSE, message, Map.of(key, value));
  }
}
