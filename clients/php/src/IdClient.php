<?php

declare(strict_types=1);

namespace Snowlane;

use Snowlane\Internal\Answers;
use Snowlane\Internal\Caller;
use Snowlane\Internal\Options;
use Snowlane\Internal\Runs;

/**
 * Gives unique, time-sorted IDs of 63 bits: one call for each of its methods. With {@see prefetch}, IDs come from a
 * stock at hand.
 */
final class IdClient
{
    public const VERSION = '0.1.0';
    public const COUNT_MAX = 1_048_576;

    private readonly Caller $caller;

    /**
     * @param string|list<string> $endpoints http://HOST:PORT, https://HOST:PORT or unix:/PATH; of one deployment
     * @param string|\Closure(): string|null $token sent as `authorization: Bearer TOKEN`
     * @param bool $insecureToken lets a token go over http:// to another machine
     * @param int $timeoutMs deadline of a call, with every attempt and every wait
     * @param int $attemptTimeoutMs the most that one attempt may take
     * @param int $retryMax attempts after the first, 0 to 3
     * @param list<string> $deployments fingerprints of the deployments whose IDs may be used; empty: of the first that
     *     answers
     * @throws \InvalidArgumentException for options that cannot be
     */
    public function __construct(
        #[\SensitiveParameter] string|array $endpoints = 'http://127.0.0.1:7609',
        ?Tls $tls = null,
        #[\SensitiveParameter] string|\Closure|null $token = null,
        bool $insecureToken = false,
        int $timeoutMs = 5_000,
        int $attemptTimeoutMs = 2_000,
        int $retryMax = 3,
        array $deployments = [],
    ) {
        $options = new Options(
            (array) $endpoints,
            $tls,
            $token,
            $insecureToken,
            $timeoutMs,
            $attemptTimeoutMs,
            $retryMax,
            $deployments,
        );
        $this->caller = new Caller($options);
    }

    /**
     * One ID.
     *
     * @throws SnowlaneException
     */
    public function nextId(?int $timeoutMs = null): int
    {
        $id = Runs::whole($this->caller->call('IdService/NextId', [], $timeoutMs)['id'] ?? 0);
        return $id >= 1 ? $id : throw Answers::invalid('The server sent an impossible ID.');
    }

    /**
     * 1 to 1,048,576 IDs, by as many calls as it takes. They rise as long as one server answers.
     *
     * @return list<int>
     * @throws SnowlaneException
     */
    public function nextIds(int $count, ?int $timeoutMs = null): array
    {
        $ids = [];
        for ($left = $this->checkedCount($count); $left > 0; $left = $count - count($ids)) {
            foreach ($this->reserve($left, $timeoutMs) as $run) {
                $ids = $ids === [] ? $run->ids() : [...$ids, ...$run->ids()];
            }
        }
        return $ids;
    }

    /**
     * The runs of one call: 1 to `count` IDs in all.
     *
     * @return non-empty-list<Run>
     * @throws SnowlaneException
     */
    public function reserve(int $count, ?int $timeoutMs = null): array
    {
        $message = ['count' => $this->checkedCount($count)];
        return Runs::read($this->caller->call('IdService/ReserveIds', $message, $timeoutMs)['runs'] ?? [], $count);
    }

    /**
     * What the server says of itself, as JSON has it: docs/reports/api.md, GetInfoResponse.
     *
     * @return array<string, mixed>
     * @throws SnowlaneException
     */
    public function info(?int $timeoutMs = null): array
    {
        return $this->caller->call('IdService/GetInfo', [], $timeoutMs);
    }

    /** One sequence of the deployment. Nothing is sent before its first value. */
    public function sequence(string $name): Sequence
    {
        return new Sequence($this->caller, $name);
    }

    /**
     * IDs from a stock at hand: of this process, or with APCu of all processes of a PHP-FPM pool.
     *
     * @param int $maxAgeMs the oldest that the reservation of an ID may be, 10 to 60,000
     * @param int $countMin the fewest IDs of one reservation
     * @param int $countMax the most IDs of one reservation
     * @param bool|null $isShared whether the stock is in APCu; null: where APCu is there
     * @throws \InvalidArgumentException for options that cannot be
     */
    public function prefetch(
        int $maxAgeMs = 5_000,
        int $countMin = 8,
        int $countMax = 65_536,
        ?bool $isShared = null,
    ): PrefetchBuffer {
        return new PrefetchBuffer($this, $this->caller, $maxAgeMs, $countMin, $countMax, $isShared);
    }

    /** Ends the client: every later call of it and of its buffers is CLIENT_CLOSED. */
    public function close(): void
    {
        $this->caller->close();
    }

    /** A copy would share the connections. */
    private function __clone()
    {
    }

    /** @return never */
    public function __serialize(): array
    {
        throw new \LogicException('A client cannot be copied.');
    }

    private function checkedCount(int $count): int
    {
        if ($count >= 1 && $count <= self::COUNT_MAX) {
            return $count;
        }
        $text = "The count $count is not from 1 to " . self::COUNT_MAX . '.';
        $text .= $count < 1 ? '' : ' This client has no stream for more.';
        $metadata = ['count' => (string) $count, 'count_max' => (string) self::COUNT_MAX];
        throw new SnowlaneException(ErrorReason::COUNT_OUT_OF_RANGE, $text, 'INVALID_ARGUMENT', $metadata);
    }
}
