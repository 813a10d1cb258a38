<?php

declare(strict_types=1);

namespace Snowlane\Internal;

/** The two clocks, in milliseconds. */
final class Clock
{
    /** Of the monotonic clock, which all processes of a machine share. */
    public static function nowMs(): float
    {
        return hrtime(true) / 1e6;
    }

    /** Of the wall clock, which goes on while a machine is suspended. */
    public static function wallMs(): float
    {
        return microtime(true) * 1e3;
    }

    /** A random number from 0 to 1. The generator is seeded for each process, and in a forked one again. */
    public static function random(): float
    {
        return random_int(0, 1 << 30) / (1 << 30);
    }
}
