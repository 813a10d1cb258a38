package dev.snowlane.client;

import java.util.List;

/**
 * Values that belong to the caller, used or not.
 *
 * @param runs at least one run
 * @param periodKey the period of all of them; empty if the sequence has none
 */
public record ReservedValues(List<ValueRun> runs, String periodKey) {}
