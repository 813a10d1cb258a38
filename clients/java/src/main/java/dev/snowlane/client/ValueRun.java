package dev.snowlane.client;

/**
 * Values in arithmetic progression: {@code firstValue + i * increment} for i from 0 to {@code count - 1}.
 *
 * @param firstValue the first value, 1 to 2^63 - 1
 * @param count how many values, at least 1
 * @param increment the distance between neighbours, at least 1
 */
public record ValueRun(long firstValue, int count, long increment) {}
