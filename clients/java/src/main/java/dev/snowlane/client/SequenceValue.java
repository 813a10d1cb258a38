package dev.snowlane.client;

/**
 * One value of a sequence.
 *
 * @param value 1 to 2^63 - 1; unique within its sequence and {@code periodKey}
 * @param text the value as the sequence's template writes it; empty if it has none
 * @param periodKey the period of the value: {@code 2026}, {@code 2026-11} or {@code 2026-11-22}; empty if the sequence
 *     has none
 */
public record SequenceValue(long value, String text, String periodKey) {}
