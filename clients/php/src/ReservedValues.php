<?php

declare(strict_types=1);

namespace Snowlane;

/** Values of a sequence in runs, all of one period. */
final readonly class ReservedValues
{
    /**
     * @param non-empty-list<ValueRun> $runs
     * @param string $periodKey the period of the values; empty without one
     */
    public function __construct(public array $runs, public string $periodKey)
    {
    }
}
