<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\Run;

/** The runs of one reservation, and when they were asked for, by both clocks. */
final readonly class Answer
{
    public int $count;

    /** @param non-empty-list<Run> $runs */
    public function __construct(public array $runs, public float $askedAt, public float $askedAtWall)
    {
        $this->count = array_sum(array_map(static fn (Run $run) => $run->count, $runs));
    }

    /**
     * The larger of what the two clocks say: the monotonic one stands still while a machine is suspended.
     */
    public static function ageMs(float $askedAt, float $askedAtWall): float
    {
        return max(Clock::nowMs() - $askedAt, Clock::wallMs() - $askedAtWall);
    }
}
