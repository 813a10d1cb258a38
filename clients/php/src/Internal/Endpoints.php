<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\SnowlaneException;

/** The servers of a client: which one is asked, and when. */
final class Endpoints
{
    private const PAUSE_MAX_MS = 20;
    private const STAY_MIN_MS = 300_000;
    private const STAY_MAX_MS = 900_000;
    private const ANSWERED_SECONDS = 3_600;

    /** @var non-empty-list<Endpoint> */
    public readonly array $all;
    private Endpoint $current;
    private bool $hasAnswered;
    private float $movesAt;

    /** @param non-empty-list<string> $urls */
    public function __construct(array $urls, private readonly Memory $memory)
    {
        $this->all = array_map(static fn (string $url) => new Endpoint($url, $memory), $urls);
        $this->current = self::oneOf($this->all);
        $this->hasAnswered = $memory->get('answered') === true;
        $this->movesAt = $this->nextMove();
    }

    public function current(): Endpoint
    {
        return $this->current;
    }

    /** Chooses whom to ask. Gives how many milliseconds later. */
    public function choose(): float
    {
        $now = Clock::nowMs();
        $up = array_values(array_filter($this->all, static fn (Endpoint $one) => $one->downUntil() <= $now));
        if ($now >= $this->movesAt) {
            $this->movesAt = $this->nextMove();
            $this->current = $up === [] ? $this->current : self::oneOf($up);
        }
        if (in_array($this->current, $up, true)) {
            return 0;
        }
        if ($up !== []) {
            $this->current = self::oneOf($up);
            return Clock::random() * self::PAUSE_MAX_MS;
        }
        $this->current = array_reduce(
            $this->all,
            static fn (?Endpoint $best, Endpoint $one) =>
                $best !== null && $best->downUntil() <= $one->downUntil() ? $best : $one,
        );
        return $this->current->downUntil() - $now;
    }

    /** Takes note that a server of ours answered, with success or an error. */
    public function noteAnswer(): void
    {
        if (!$this->hasAnswered) {
            $this->hasAnswered = true;
            $this->memory->put('answered', true, self::ANSWERED_SECONDS);
        }
    }

    /** Takes note of a failure for which an endpoint is left. Gives what the caller is to see of it. */
    public function noteFailure(Endpoint $endpoint, SnowlaneException $failure): SnowlaneException
    {
        $endpoint->noteFailure($failure, !$this->hasAnswered);
        foreach ($this->all as $one) {
            if ($this->hasAnswered || $one->lastFailure?->isAbsence() !== true) {
                return $failure;
            }
        }
        return $failure->beforeFirstAnswer();
    }

    /**
     * @param non-empty-list<Endpoint> $endpoints
     */
    private static function oneOf(array $endpoints): Endpoint
    {
        return $endpoints[random_int(0, count($endpoints) - 1)];
    }

    private function nextMove(): float
    {
        return Clock::nowMs() + self::STAY_MIN_MS + Clock::random() * (self::STAY_MAX_MS - self::STAY_MIN_MS);
    }
}
