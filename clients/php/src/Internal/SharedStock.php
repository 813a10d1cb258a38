<?php

declare(strict_types=1);

namespace Snowlane\Internal;

/**
 * The stock of all processes of a pool, in APCu.
 *
 * Each run has a random generation, and its cursor is a number of its own under that name. A cursor is made once,
 * before anybody can see its run, and moves by compare-and-swap alone, which never makes one that is not there: a
 * cursor that APCu evicted ends its run. The list of runs may be lost, or written twice at a time, and then IDs stay a
 * gap. docs/adr/0236-php-stock-in-apcu.md
 */
final class SharedStock implements Stock
{
    private const CURSOR_SECONDS = 60;
    private const ASKING_SECONDS = 5;

    private const NOTHING = ['runs' => [], 'takenIn' => 0, 'policy' => null];

    /** The list as {@see claim} saw it last. @var array{runs: list<array{string, int, int, int, float, float}>, ...} */
    private array $state;
    private int $left = 0;
    private ?string $asking = null;
    private readonly int $seconds;

    public function __construct(private readonly Memory $memory, private readonly int $maxAgeMs)
    {
        $this->seconds = intdiv($maxAgeMs, 1_000) + self::CURSOR_SECONDS;
        $this->look();
    }

    public function claim(): ?int
    {
        $this->look();
        $this->left = 0;
        $id = null;
        foreach ($this->state['runs'] as [$generation, $first, $stride, $count, $askedAt, $askedAtWall]) {
            if (Answer::ageMs($askedAt, $askedAtWall) > $this->maxAgeMs) {
                continue;
            }
            $cursor = $this->memory->get("cursor:$generation");
            while ($id === null && is_int($cursor) && $cursor < $count) {
                if ($this->memory->swap("cursor:$generation", $cursor, $cursor + 1)) {
                    $id = $first + $cursor++ * $stride;
                } else {
                    $cursor = $this->memory->get("cursor:$generation");
                }
            }
            $this->left += is_int($cursor) ? $count - $cursor : 0;
        }
        return $id;
    }

    public function left(): int
    {
        return $this->left;
    }

    public function takenIn(): int
    {
        return $this->state['takenIn'];
    }

    public function policy(): RefillPolicy
    {
        $policy = $this->state['policy'];
        return $policy === null ? new RefillPolicy(Clock::nowMs()) : RefillPolicy::fromArray($policy);
    }

    public function beginAsking(): bool
    {
        $asking = bin2hex(random_bytes(8));
        if (!$this->memory->add('asking', $asking, self::ASKING_SECONDS)) {
            return false;
        }
        $this->asking = $asking;
        return true;
    }

    public function endAsking(): void
    {
        if ($this->asking !== null && $this->memory->get('asking') === $this->asking) {
            $this->memory->delete('asking');
        }
        $this->asking = null;
    }

    public function add(Answer $answer, RefillPolicy $policy): void
    {
        $added = [];
        foreach ($answer->runs as $run) {
            $generation = bin2hex(random_bytes(8));
            if ($this->memory->add("cursor:$generation", 0, $this->seconds)) {
                $added[] = [
                    $generation,
                    $run->firstId,
                    $run->stride,
                    $run->count,
                    $answer->askedAt,
                    $answer->askedAtWall,
                ];
            }
        }
        $this->look();
        $this->state = [
            'runs' => [...array_filter($this->state['runs'], $this->hasLeft(...)), ...$added],
            'takenIn' => $this->state['takenIn'] + $answer->count,
            'policy' => $policy->toArray(),
        ];
        $this->memory->put('stock', $this->state, $this->seconds);
    }

    public function dropped(): int
    {
        return 0;
    }

    /** The stock belongs to the others, too. */
    public function drop(): void
    {
        $this->asking = null;
    }

    /** @param array{string, int, int, int, float, float} $run */
    private function hasLeft(array $run): bool
    {
        [$generation, , , $count, $askedAt, $askedAtWall] = $run;
        $cursor = $this->memory->get("cursor:$generation");
        return is_int($cursor) && $cursor < $count && Answer::ageMs($askedAt, $askedAtWall) <= $this->maxAgeMs;
    }

    private function look(): void
    {
        $this->state = $this->memory->get('stock') ?? self::NOTHING;
    }
}
