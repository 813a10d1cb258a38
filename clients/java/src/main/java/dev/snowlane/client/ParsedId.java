package dev.snowlane.client;

import java.time.Instant;
import java.util.OptionalLong;

/**
 * The parts of an ID, as read by a layout.
 *
 * @param ticks since the layout's epoch
 * @param datacenterId empty where the layout has no such field, as the two below
 * @param createTime when the ID's tick began
 */
public record ParsedId(
    long id,
    Layout layout,
    long ticks,
    OptionalLong datacenterId,
    OptionalLong workerId,
    OptionalLong sequence,
    Instant createTime) {

  static ParsedId of(Layout layout, long id) {
    long ticks = layout.timestamp.read(id);
    return new ParsedId(
        id,
        layout,
        ticks,
        read(layout.datacenter, id),
        read(layout.worker, id),
        read(layout.sequence, id),
        layout.timeOf(ticks));
  }

  private static OptionalLong read(FieldPlace place, long id) {
    return place.exists() ? OptionalLong.of(place.read(id)) : OptionalLong.empty();
  }
}
