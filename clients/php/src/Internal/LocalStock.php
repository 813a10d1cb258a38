<?php

declare(strict_types=1);

namespace Snowlane\Internal;

/** The stock of this process alone. */
final class LocalStock implements Stock
{
    /**
     * First ID, stride, count, claimed, and when it was asked for.
     *
     * @var list<array{int, int, int, int, float, float}>
     */
    private array $runs = [];
    private int $left = 0;
    private int $takenIn = 0;
    private int $dropped = 0;
    private RefillPolicy $policy;

    public function __construct(private readonly int $maxAgeMs)
    {
        $this->policy = new RefillPolicy(Clock::nowMs());
    }

    public function claim(): ?int
    {
        while ($this->runs !== []) {
            [$first, $stride, $count, $claimed, $askedAt, $askedAtWall] = $this->runs[0];
            if (Answer::ageMs($askedAt, $askedAtWall) > $this->maxAgeMs) {
                $this->dropFirst($count - $claimed);
                continue;
            }
            $this->left--;
            if ($claimed + 1 === $count) {
                array_shift($this->runs);
            } else {
                $this->runs[0][3] = $claimed + 1;
            }
            return $first + $claimed * $stride;
        }
        return null;
    }

    public function left(): int
    {
        return $this->left;
    }

    public function takenIn(): int
    {
        return $this->takenIn;
    }

    public function policy(): RefillPolicy
    {
        return $this->policy;
    }

    public function beginAsking(): bool
    {
        return true;
    }

    public function endAsking(): void
    {
    }

    public function add(Answer $answer, RefillPolicy $policy): void
    {
        foreach ($answer->runs as $run) {
            $this->runs[] = [$run->firstId, $run->stride, $run->count, 0, $answer->askedAt, $answer->askedAtWall];
        }
        $this->left += $answer->count;
        $this->takenIn += $answer->count;
        $this->policy = $policy;
    }

    public function dropped(): int
    {
        return $this->dropped;
    }

    public function drop(): void
    {
        $this->dropped += $this->left;
        [$this->runs, $this->left] = [[], 0];
    }

    private function dropFirst(int $count): void
    {
        array_shift($this->runs);
        $this->dropped += $count;
        $this->left -= $count;
    }
}
