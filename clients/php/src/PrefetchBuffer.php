<?php

declare(strict_types=1);

namespace Snowlane;

use Snowlane\Internal\Caller;
use Snowlane\Internal\Clock;
use Snowlane\Internal\LocalStock;
use Snowlane\Internal\Memory;
use Snowlane\Internal\Refiller;
use Snowlane\Internal\SharedStock;
use Snowlane\Internal\Stock;

/**
 * IDs from a stock at hand. PHP has no thread to fill it: a reservation begins when an ID is taken and the stock is
 * low, and goes on when the next ones are. docs/adr/0236-php-stock-in-apcu.md
 */
final class PrefetchBuffer
{
    /** So long a caller waits for the reservation of another process, before it makes a call of its own. */
    private const OTHERS_MS = 50;
    /** So long the end of a request waits for its reservation. */
    private const END_MS = 250;

    private readonly Stock $stock;
    private readonly Refiller $refiller;
    private readonly bool $isShared;
    private int $processId;
    private int $handedOut = 0;
    private int $waits = 0;
    private bool $isClosed = false;

    /** @internal by {@see IdClient::prefetch} */
    public function __construct(
        private readonly IdClient $client,
        private readonly Caller $caller,
        int $maxAgeMs,
        int $countMin,
        int $countMax,
        ?bool $isShared,
    ) {
        if ($maxAgeMs < 10 || $maxAgeMs > 60_000) {
            throw new \InvalidArgumentException('The option maxAgeMs must be from 10 to 60,000.');
        }
        if ($countMin < 1 || $countMin > $countMax || $countMax > IdClient::COUNT_MAX) {
            $text = 'The options countMin and countMax must be from 1 to 1,048,576, and countMin at most countMax.';
            throw new \InvalidArgumentException($text);
        }
        if ($isShared === true && !Memory::isAvailable()) {
            throw new \InvalidArgumentException('A shared stock needs APCu, installed and enabled (apc.enabled).');
        }
        $this->isShared = $isShared ?? Memory::isAvailable();
        $this->stock = $this->isShared ? new SharedStock($caller->memory, $maxAgeMs) : new LocalStock($maxAgeMs);
        $this->refiller = new Refiller($caller, $this->stock, $maxAgeMs, $countMin, $countMax);
        $this->processId = (int) getmypid();
    }

    /**
     * One ID: from stock at once, else after a wait of at most `timeoutMs` (default: the client's).
     *
     * @throws SnowlaneException
     */
    public function nextId(?int $timeoutMs = null): int
    {
        $failuresBefore = $this->refiller->refillFailures;
        return $this->claim() ?? $this->waitForId($failuresBefore, $timeoutMs);
    }

    /**
     * 1 to 1,048,576 IDs. If it fails, those that it had claimed are a gap.
     *
     * @return list<int>
     * @throws SnowlaneException
     */
    public function nextIds(int $count, ?int $timeoutMs = null): array
    {
        if ($count < 1 || $count > IdClient::COUNT_MAX) {
            $text = "The count $count is not from 1 to " . IdClient::COUNT_MAX . '.';
            throw new SnowlaneException(ErrorReason::COUNT_OUT_OF_RANGE, $text, 'INVALID_ARGUMENT');
        }
        $deadline = Clock::nowMs() + ($timeoutMs ?? $this->caller->options->timeoutMs);
        $ids = [];
        while (count($ids) < $count) {
            $ids[] = $this->nextId((int) ($deadline - Clock::nowMs()));
        }
        return $ids;
    }

    /**
     * An ID from stock. Never waits.
     *
     * @throws SnowlaneException STOCK_EMPTY
     */
    public function nextIdNow(): int
    {
        return $this->claim()
            ?? throw new SnowlaneException(ErrorReason::STOCK_EMPTY, 'Nothing is in stock.', 'UNAVAILABLE');
    }

    public function stats(): BufferStats
    {
        $policy = $this->stock->policy();
        return new BufferStats(
            handedOut: $this->handedOut,
            reserved: $this->refiller->reserved,
            dropped: $this->stock->dropped(),
            refills: $this->refiller->refills,
            refillFailures: $this->refiller->refillFailures,
            waits: $this->waits,
            stock: $this->stock->left(),
            ratePerSecond: $policy->ratePerSecond(),
            meanRttMs: $policy->meanRttMs(),
        );
    }

    /** Drops the stock, unless other processes share it. You may call it twice. */
    public function close(): void
    {
        $this->isClosed = true;
        $this->refiller->drop($this->processId !== getmypid());
        $this->stock->drop();
    }

    /** Finishes a reservation that other processes of the pool wait for. */
    public function __destruct()
    {
        if ($this->isClosed || $this->processId !== getmypid()) {
            return;
        }
        $until = Clock::nowMs() + ($this->isShared ? self::END_MS : 0);
        while ($this->refiller->isAsking() && Clock::nowMs() < $until) {
            $this->refiller->wait($until - Clock::nowMs());
            $this->refiller->look();
        }
        $this->refiller->drop(false);
    }

    /** A copy would hand out the same IDs. */
    private function __clone()
    {
    }

    /** @return never */
    public function __serialize(): array
    {
        throw new \LogicException('A buffer cannot be copied.');
    }

    private function claim(): ?int
    {
        $this->caller->checkOpen();
        if ($this->isClosed) {
            throw new SnowlaneException(ErrorReason::CLIENT_CLOSED, 'The buffer is closed.', 'CANCELLED');
        }
        if ($this->processId !== getmypid()) {
            // A child of a fork begins with a stock of its own.
            $this->processId = (int) getmypid();
            $this->refiller->drop(true);
            $this->stock->drop();
        }
        $this->refiller->look();
        $id = $this->stock->claim();
        if ($this->refiller->isDue()) {
            $this->refiller->ask();
        }
        $this->handedOut += $id === null ? 0 : 1;
        return $id;
    }

    private function waitForId(int $failuresBefore, ?int $timeoutMs): int
    {
        $this->waits++;
        $startedAt = Clock::nowMs();
        $deadline = $startedAt + ($timeoutMs ?? $this->caller->options->timeoutMs);
        while (($id = $this->claim()) === null) {
            $isNew = $this->refiller->refillFailures > $failuresBefore;
            $failure = $isNew ? $this->refiller->failure : null;
            $now = Clock::nowMs();
            if ($now >= $deadline || $failure?->passes() === false) {
                $text = 'No ID came into stock in time.';
                throw $failure ?? new SnowlaneException(ErrorReason::DEADLINE_EXCEEDED, $text, 'DEADLINE_EXCEEDED');
            }
            if ($this->isShared && !$this->refiller->isAsking() && $now >= $startedAt + self::OTHERS_MS) {
                $this->handedOut++;
                return $this->client->nextId((int) ceil($deadline - $now));
            }
            $this->refiller->wait($deadline - $now);
        }
        return $id;
    }
}
