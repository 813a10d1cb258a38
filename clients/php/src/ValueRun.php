<?php

declare(strict_types=1);

namespace Snowlane;

/** Values that a server reserved: `firstValue`, and `count` - 1 more, each `increment` above the one before. */
final readonly class ValueRun
{
    public function __construct(public int $firstValue, public int $count, public int $increment)
    {
    }
}
