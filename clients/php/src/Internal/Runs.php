<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\Run;
use Snowlane\SnowlaneException;

/** Reads runs of IDs, or of values of a sequence, from an answer. */
final class Runs
{
    /**
     * @param mixed $runs as the answer has them
     * @return non-empty-list<Run>
     * @throws SnowlaneException INVALID_RESPONSE unless all of them can be: the answer is refused whole
     */
    public static function read(mixed $runs, int $asked, string $first = 'firstId', string $stride = 'stride'): array
    {
        $read = [];
        $sum = 0;
        foreach (is_array($runs) ? $runs : [] as $run) {
            $one = new Run(self::whole($run[$first] ?? 0), self::whole($run['count'] ?? 0), self::whole($run[$stride] ?? 0));
            if ($one->firstId < 1 || $one->count < 1 || $one->count > $asked || $one->stride < 1) {
                throw Answers::invalid('The server sent an impossible run.');
            }
            if ($one->stride > intdiv(PHP_INT_MAX - $one->firstId, max(1, $one->count - 1)) && $one->count > 1) {
                throw Answers::invalid('The server sent a run whose last ID is above 2^63 - 1.');
            }
            $sum += $one->count;
            $read[] = $one;
        }
        if ($read === [] || $sum > $asked) {
            throw Answers::invalid("The server sent $sum IDs where 1 to $asked were asked for.");
        }
        self::checkApart($read);
        return $read;
    }

    /** A number of JSON, or a string of digits; 0 for anything else, and for what is no 63-bit number. */
    public static function whole(mixed $value): int
    {
        if (is_int($value)) {
            return $value;
        }
        return is_string($value) && (string) (int) $value === $value ? (int) $value : 0;
    }

    /** @param list<Run> $runs */
    private static function checkApart(array $runs): void
    {
        usort($runs, static fn (Run $a, Run $b) => $a->firstId <=> $b->firstId);
        $last = 0;
        foreach ($runs as $run) {
            if ($run->firstId <= $last) {
                throw Answers::invalid('The server sent runs that overlap.');
            }
            $last = $run->firstId + ($run->count - 1) * $run->stride;
        }
    }
}
