package dev.snowlane.client;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a text says.
 *
 * @param format the form that the text is in, with what it showed of its options: writing the ID so gives the canonical
 *     text
 * @param id empty for a UUID that holds no ID of this layout and namespace
 * @param uuid what the UUID says, if it is one
 */
public record TextReading(TextFormat format, OptionalLong id, Optional<UuidInfo> uuid) {}
