/**
 * Unique, time-sorted 64-bit IDs from Snowlane servers: {@link dev.snowlane.client.IdClient} makes one call for each,
 * and {@link dev.snowlane.client.PrefetchBuffer} hands them out from memory.
 *
 * <p>No parameter, result or field is null unless {@link org.jspecify.annotations.Nullable} says so.
 */
@NullMarked
package dev.snowlane.client;

import org.jspecify.annotations.NullMarked;
