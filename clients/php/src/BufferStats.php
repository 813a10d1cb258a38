<?php

declare(strict_types=1);

namespace Snowlane;

/** Counters of a buffer, as its own process sees them. */
final readonly class BufferStats
{
    /**
     * @param int $handedOut IDs given to callers
     * @param int $reserved IDs taken into stock
     * @param int $dropped IDs dropped unused; 0 of a shared stock
     * @param int $refills reservations that were taken into stock
     * @param int $refillFailures reservations that failed, or whose answer was refused or too late
     * @param int $waits calls that found no stock and waited
     * @param int $stock IDs at hand, of all processes that share them
     * @param float $ratePerSecond IDs handed out a second, as last measured
     * @param float $meanRttMs mean round trip of successful reservations
     */
    public function __construct(
        public int $handedOut,
        public int $reserved,
        public int $dropped,
        public int $refills,
        public int $refillFailures,
        public int $waits,
        public int $stock,
        public float $ratePerSecond,
        public float $meanRttMs,
    ) {
    }
}
