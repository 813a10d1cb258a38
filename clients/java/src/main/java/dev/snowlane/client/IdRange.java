package dev.snowlane.client;

/** The IDs that a time interval can hold, both ends inclusive. */
public record IdRange(long firstId, long lastId) {}
