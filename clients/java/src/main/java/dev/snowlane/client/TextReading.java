package dev.snowlane.client;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * The result of reading a text.
 *
 * @param format the form of the text, with those of its options that the text shows: writing the ID in it yields the
 *     canonical text
 * @param id empty for a UUID that holds no ID of this layout and namespace
 * @param uuid the fields of the UUID, if it is one
 */
public record TextReading(TextFormat format, OptionalLong id, Optional<UuidInfo> uuid) {}
