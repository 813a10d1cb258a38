<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\SnowlaneException;

/** One server, and how it has been doing. */
final class Endpoint
{
    private const BACK_OFF_MS = 100;
    private const BACK_OFF_MAX_MS = 2_000;
    private const RETRY_INFO_MAX_MS = 1_000;
    private const KNOWN_SECONDS = 10;

    public ?SnowlaneException $lastFailure = null;
    private float $downUntil;
    private int $failuresInRow;

    public function __construct(public readonly string $url, private readonly Memory $memory)
    {
        // Another process of the pool may know better.
        [$this->downUntil, $this->failuresInRow] = $memory->get("down:$url") ?? [0.0, 0];
    }

    public function isUnix(): bool
    {
        return str_starts_with($this->url, 'unix:');
    }

    public function isPlaintext(): bool
    {
        return str_starts_with($this->url, 'http:');
    }

    public function downUntil(): float
    {
        return $this->downUntil;
    }

    public function noteSuccess(): void
    {
        if ($this->failuresInRow > 0) {
            $this->memory->delete("down:{$this->url}");
        }
        [$this->downUntil, $this->failuresInRow, $this->lastFailure] = [0.0, 0, null];
    }

    /** @param bool $isFirst whether no server has answered this client yet */
    public function noteFailure(SnowlaneException $failure, bool $isFirst): void
    {
        $this->failuresInRow++;
        if ($isFirst && $failure->isAbsence()) {
            $this->failuresInRow = min($this->failuresInRow, 2);
        }
        $delay = Clock::random() * min(self::BACK_OFF_MAX_MS, self::BACK_OFF_MS * 2 ** min($this->failuresInRow, 10));
        $asked = min($failure->retryAfterMs ?? 0, self::RETRY_INFO_MAX_MS);
        $this->downUntil = Clock::nowMs() + max($delay, $asked);
        $this->lastFailure = $failure;
        $this->memory->put("down:{$this->url}", [$this->downUntil, $this->failuresInRow], self::KNOWN_SECONDS);
    }
}
