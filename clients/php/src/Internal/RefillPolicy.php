<?php

declare(strict_types=1);

namespace Snowlane\Internal;

/** Says how many IDs to reserve, and when. Reads no clock. docs/adr/0237-thin-clients-without-hedge.md */
final class RefillPolicy
{
    private const USE_MS = 1_000;
    private const FAST_MS = 250;
    private const ROUND_TRIPS = 8;

    private float $ratePerSecond = 0;
    private ?float $meanRttMs = null;
    private int $size = 0;
    private float $askedAt = -INF;
    /**
     * Two snapshots: the time, and the count of IDs handed out by then.
     *
     * @var array{array{float, int}, array{float, int}}
     */
    private array $marks;

    public function __construct(float $now)
    {
        $this->marks = [[$now, 0], [$now, 0]];
    }

    /** How many IDs to ask for now. */
    public function want(float $now, int $handedOut, int $countMin, int $countMax): int
    {
        if ($now - $this->marks[1][0] >= self::USE_MS) {
            $this->marks = [$this->marks[1], [$now, $handedOut]];
        }
        [$since, $before] = $this->marks[0];
        $measured = max(0, $handedOut - $before) / max(1, ($now - $since) / 1_000);
        $this->ratePerSecond = max($measured, $this->ratePerSecond / 2);
        $grown = $now - $this->askedAt < self::FAST_MS ? 2 * $this->size : 0;
        $this->askedAt = $now;
        return (int) min(max(ceil($this->ratePerSecond * self::USE_MS / 1_000), $grown, $countMin), $countMax);
    }

    /** Takes in an answer, and how long it took. */
    public function noteAnswer(int $size, float $rttMs): void
    {
        $this->size = $size;
        $this->meanRttMs = $this->meanRttMs === null ? $rttMs : $this->meanRttMs + ($rttMs - $this->meanRttMs) / 8;
    }

    /** The count of IDs at which the next answer is asked for. */
    public function lowWaterMark(): int
    {
        $needed = self::ROUND_TRIPS * $this->ratePerSecond * ($this->meanRttMs ?? 0) / 1_000;
        return (int) min($this->size, ceil(max($needed, $this->size / 4)));
    }

    /** How long the first attempt of a reservation may take: a reservation that is lost is only a gap. */
    public function limitMs(int $attemptTimeoutMs): float
    {
        return $this->meanRttMs === null
            ? $attemptTimeoutMs / 4
            : max(100, min(4 * $this->meanRttMs, $attemptTimeoutMs / 2));
    }

    public function ratePerSecond(): float
    {
        return $this->ratePerSecond;
    }

    public function meanRttMs(): float
    {
        return $this->meanRttMs ?? 0;
    }

    /** @return list<mixed> for another process: {@see fromArray} */
    public function toArray(): array
    {
        return [$this->ratePerSecond, $this->meanRttMs, $this->size, $this->askedAt, $this->marks];
    }

    /** @param list<mixed> $state */
    public static function fromArray(array $state): self
    {
        $policy = new self(0);
        [$policy->ratePerSecond, $policy->meanRttMs, $policy->size, $policy->askedAt, $policy->marks] = $state;
        return $policy;
    }
}
