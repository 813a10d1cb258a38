<?php

declare(strict_types=1);

namespace Snowlane;

/** One value of a sequence. */
final readonly class SequenceValue
{
    /**
     * @param int $value 1 to 2^63 - 1
     * @param string $text the value by the sequence's template; empty without one
     * @param string $periodKey the period of the value; empty without one
     */
    public function __construct(public int $value, public string $text, public string $periodKey)
    {
    }
}
