<?php

declare(strict_types=1);

namespace Snowlane;

/** IDs that a server reserved: `firstId`, and `count` - 1 more, each `stride` above the one before. */
final readonly class Run
{
    public function __construct(public int $firstId, public int $count, public int $stride)
    {
    }

    /** @return list<int> */
    public function ids(): array
    {
        return $this->count === 1
            ? [$this->firstId]
            : range($this->firstId, $this->firstId + ($this->count - 1) * $this->stride, $this->stride);
    }
}
