<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\ErrorReason;
use Snowlane\SnowlaneException;

/** Reserves IDs for a stock, beside the work of its process: one reservation at a time, which goes on at each look. */
final class Refiller
{
    private const BACK_OFF_MS = 100;
    private const BACK_OFF_MAX_MS = 2_000;
    private const RETRY_INFO_MAX_MS = 1_000;

    public int $refills = 0;
    public int $refillFailures = 0;
    /** IDs that this process reserved and took into stock. */
    public int $reserved = 0;
    /** The failure of the last reservation; null after a success. */
    public ?SnowlaneException $failure = null;
    private ?Call $call = null;
    private RefillPolicy $policy;
    private int $asked = 0;
    private float $askedAt = 0;
    private float $askedAtWall = 0;
    private int $failuresInRow = 0;
    private float $notBefore = 0;

    public function __construct(
        private readonly Caller $caller,
        private readonly Stock $stock,
        private readonly int $maxAgeMs,
        private readonly int $countMin,
        private readonly int $countMax,
    ) {
    }

    /** Whether the stock is low. */
    public function isDue(): bool
    {
        return $this->stock->left() <= $this->stock->policy()->lowWaterMark();
    }

    public function isAsking(): bool
    {
        return $this->call !== null;
    }

    /** Asks for IDs, unless that is going on, or has just failed. Says whether it is going on. */
    public function ask(): bool
    {
        if ($this->call !== null) {
            return true;
        }
        if (Clock::nowMs() < $this->notBefore || !$this->stock->beginAsking()) {
            return false;
        }
        $this->policy = clone $this->stock->policy();
        [$this->askedAt, $this->askedAtWall] = [Clock::nowMs(), Clock::wallMs()];
        $handedOut = $this->stock->takenIn() - $this->stock->left() - $this->stock->dropped();
        $this->asked = $this->policy->want($this->askedAt, $handedOut, $this->countMin, $this->countMax);
        $limitMs = $this->policy->limitMs($this->caller->options->attemptTimeoutMs);
        $message = ['count' => $this->asked];
        $timeoutMs = $this->caller->options->timeoutMs;
        $this->call = new Call($this->caller, 'IdService/ReserveIds', $message, $timeoutMs, $limitMs, true);
        $this->look();
        return true;
    }

    /** Goes on with the reservation, as far as it can at once. */
    public function look(): void
    {
        if ($this->call === null || !$this->call->step()) {
            return;
        }
        $call = $this->call;
        $this->call = null;
        try {
            $this->takeIn($call->answer ?? throw $call->failure);
        } catch (SnowlaneException $failure) {
            $this->noteFailure($failure);
        } finally {
            $this->stock->endAsking();
        }
    }

    /** Waits for the reservation to go on, for the next one to be due, or until the time is over. */
    public function wait(float $milliseconds): void
    {
        if ($this->call !== null) {
            $this->call->wait($milliseconds);
        } else {
            $pauseMs = min($milliseconds, max(1, $this->notBefore - Clock::nowMs()));
            $this->caller->transport->wait($pauseMs);
        }
    }

    /** Gives the reservation up, and forgets it where it was the parent's of this process. */
    public function drop(bool $isForked): void
    {
        if ($this->call !== null && !$isForked) {
            $this->call->cancel();
            $this->stock->endAsking();
        }
        $this->call = null;
        $this->notBefore = 0;
    }

    /** @param array<string, mixed> $message */
    private function takeIn(array $message): void
    {
        $answer = new Answer(Runs::read($message['runs'] ?? [], $this->asked), $this->askedAt, $this->askedAtWall);
        $ageMs = Answer::ageMs($this->askedAt, $this->askedAtWall);
        if ($ageMs > $this->maxAgeMs) {
            $text = 'The answer came later than maxAgeMs after it was asked for.';
            throw new SnowlaneException(ErrorReason::DEADLINE_EXCEEDED, $text, 'DEADLINE_EXCEEDED');
        }
        $this->policy->noteAnswer($answer->count, $ageMs);
        $this->stock->add($answer, $this->policy);
        $this->refills++;
        $this->reserved += $answer->count;
        [$this->failure, $this->failuresInRow, $this->notBefore] = [null, 0, 0];
    }

    private function noteFailure(SnowlaneException $failure): void
    {
        $this->refillFailures++;
        $this->failure = $failure;
        $this->failuresInRow++;
        if ($failure->isFirstMistake()) {
            $this->failuresInRow = min($this->failuresInRow, 2);
        }
        if ($failure->passes()) {
            $bound = min(self::BACK_OFF_MAX_MS, self::BACK_OFF_MS * 2 ** min($this->failuresInRow, 10));
            $asked = min($failure->retryAfterMs ?? 0, self::RETRY_INFO_MAX_MS);
            $this->notBefore = Clock::nowMs() + max(Clock::random() * $bound, $asked);
        }
    }
}
