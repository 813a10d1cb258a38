<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\ErrorReason;
use Snowlane\SnowlaneException;

/** The attempts of one call, which go on when somebody looks: {@see step}. */
final class Call
{
    private const QUOTA_WAIT_MAX_MS = 5_000;
    /** A look that comes later than this was not waiting for an answer. */
    private const LOOK_MS = 50;

    /** @var array<string, mixed>|null the answer */
    public ?array $answer = null;
    public ?SnowlaneException $failure = null;
    private ?Exchange $exchange = null;
    private ?SnowlaneException $last = null;
    private float $deadline;
    private float $attemptStartsAt;
    private float $attemptEndsAt = 0;
    private float $lookedAt;
    private int $retriesLeft;

    /**
     * @param array<string, mixed> $message
     * @param float $limitMs of the first attempt; each one has twice as long as the one before, as far as it may
     * @param bool $isBackground whether it goes on beside other work: time in which nobody looked does not count
     */
    public function __construct(
        private readonly Caller $caller,
        private readonly string $method,
        private readonly array $message,
        float $timeoutMs,
        private float $limitMs,
        private readonly bool $isBackground,
    ) {
        $this->lookedAt = Clock::nowMs();
        $this->deadline = $this->lookedAt + $timeoutMs;
        $this->retriesLeft = $caller->options->retryMax;
        $this->attemptStartsAt = INF;
        try {
            $caller->deployments->meet();
            $this->plan($caller->endpoints->choose());
        } catch (SnowlaneException $failure) {
            $this->failure = $failure;
        }
    }

    /** Goes on as far as it can at once. Says whether it has come to its end. */
    public function step(): bool
    {
        $this->forgiveAbsence();
        while (!$this->isDone()) {
            if ($this->exchange === null) {
                if (Clock::nowMs() < $this->attemptStartsAt) {
                    return false;
                }
                $this->begin();
                continue;
            }
            $this->caller->transport->poll();
            if ($this->exchange->isDone) {
                $this->end($this->exchange);
            } elseif (Clock::nowMs() >= $this->attemptEndsAt) {
                $this->runOut($this->exchange);
            } else {
                return false;
            }
        }
        return true;
    }

    /** Waits for something to happen, or until the time is over. */
    public function wait(float $milliseconds): void
    {
        $next = $this->exchange === null ? $this->attemptStartsAt : $this->attemptEndsAt;
        $this->caller->transport->wait(min($milliseconds, $next - Clock::nowMs()));
    }

    public function cancel(): void
    {
        if ($this->exchange !== null) {
            $this->caller->transport->cancel($this->exchange);
            $this->exchange = null;
        }
    }

    private function isDone(): bool
    {
        return $this->answer !== null || $this->failure !== null;
    }

    private function forgiveAbsence(): void
    {
        $now = Clock::nowMs();
        $absence = $now - $this->lookedAt - self::LOOK_MS;
        if ($this->isBackground && $absence > 0) {
            $this->deadline += $absence;
            $this->attemptEndsAt += $absence;
        }
        $this->lookedAt = $now;
    }

    private function begin(): void
    {
        $now = Clock::nowMs();
        $this->attemptEndsAt = min($this->deadline, $now + $this->limitMs);
        $this->limitMs = min(2 * $this->limitMs, $this->caller->options->attemptTimeoutMs);
        $endpoint = $this->caller->endpoints->current();
        try {
            $this->exchange = $this->caller->transport->start($endpoint, $this->method, $this->message);
        } catch (SnowlaneException $failure) {
            $this->failure = $failure;
        }
    }

    private function end(Exchange $exchange): void
    {
        $this->exchange = null;
        $endpoint = $exchange->endpoint;
        try {
            $answer = Answers::read($exchange);
            $this->caller->deployments->admit($endpoint, $answer);
            $this->caller->endpoints->noteAnswer();
            $endpoint->noteSuccess();
            $this->answer = $answer;
        } catch (SnowlaneException $failure) {
            if (!isset($failure->metadata['connection'])) {
                $this->caller->endpoints->noteAnswer();
            }
            $this->failed($endpoint, $failure);
        }
    }

    private function runOut(Exchange $exchange): void
    {
        $this->exchange = null;
        $this->caller->transport->cancel($exchange);
        $endpoint = $exchange->endpoint;
        $text = 'The server has not answered in time.';
        $reason = ErrorReason::DEADLINE_EXCEEDED;
        $late = new SnowlaneException($reason, $text, 'DEADLINE_EXCEEDED', endpoint: $endpoint->url);
        if (Clock::nowMs() >= $this->deadline) {
            $this->failure = $this->last ?? $late;
        } else {
            $this->failed($endpoint, $late);
        }
    }

    private function failed(Endpoint $endpoint, SnowlaneException $failure): void
    {
        $isQuota = $failure->reason === ErrorReason::QUOTA_EXCEEDED;
        if (!$isQuota && $failure->isRetried()) {
            $failure = $this->caller->endpoints->noteFailure($endpoint, $failure);
        }
        $this->last = $failure;
        if (!$failure->isRetried() || $failure->isFirstMistake() || $this->retriesLeft === 0) {
            $this->failure = $failure;
            return;
        }
        $this->retriesLeft--;
        $quotaMs = min($failure->retryAfterMs ?? 0, self::QUOTA_WAIT_MAX_MS) * (1 + Clock::random() / 2);
        $this->plan($isQuota ? $quotaMs : $this->caller->endpoints->choose());
    }

    /** Begins the next attempt after a pause, unless the deadline comes first. */
    private function plan(float $pauseMs): void
    {
        $this->attemptStartsAt = Clock::nowMs() + $pauseMs;
        if ($this->attemptStartsAt >= $this->deadline) {
            $text = 'The deadline of the call has passed.';
            $this->failure = $this->last ?? $this->caller->endpoints->current()->lastFailure
                ?? new SnowlaneException(ErrorReason::DEADLINE_EXCEEDED, $text, 'DEADLINE_EXCEEDED');
        }
    }
}
