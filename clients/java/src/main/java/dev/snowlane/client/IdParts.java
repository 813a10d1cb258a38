package dev.snowlane.client;

import java.util.Map;

/** The parts of an ID, as texts have them: 0 where the layout has no such field. */
record IdParts(long ticks, long datacenterId, long workerId, long sequence) {

  /**
   * @throws SnowlaneException MALFORMED_ID if it is not an ID of the layout
   */
  static IdParts read(Layout layout, long id) {
    if (!layout.fits(id)) {
      Decimals.checkId(id);
      Map<String, String> metadata = Map.of("id", Long.toString(id), "layout", layout.name());
      throw new SnowlaneException(ErrorReason.MALFORMED_ID, "The ID does not fit this layout.", metadata);
    }
    return new IdParts(
        layout.timestamp.read(id), layout.datacenter.read(id), layout.worker.read(id), layout.sequence.read(id));
  }
}
