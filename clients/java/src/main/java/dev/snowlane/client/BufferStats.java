package dev.snowlane.client;

import java.time.Duration;

/**
 * The counters of a {@link PrefetchBuffer}. {@code reserved} is {@code handedOut} + {@code dropped} + {@code stock}.
 *
 * @param handedOut IDs given to callers
 * @param reserved IDs taken into stock
 * @param dropped IDs dropped unused, too old or at the end
 * @param refills answers taken into stock
 * @param refillFailures reservations that failed, or whose answer was refused or too late
 * @param waits calls that found nothing in stock and waited
 * @param stock IDs that callers can get without waiting
 * @param ratePerSecond the rate at which IDs were handed out, as last measured
 * @param meanRtt the mean round trip of successful reservations, in which the latest weigh most
 * @param outageLeft how long the stock lasts at the measured rate, at most {@code maxAge}
 */
public record BufferStats(
    long handedOut,
    long reserved,
    long dropped,
    long refills,
    long refillFailures,
    long waits,
    long stock,
    double ratePerSecond,
    Duration meanRtt,
    Duration outageLeft) {}
