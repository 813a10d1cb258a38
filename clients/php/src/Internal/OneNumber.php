<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\ErrorReason;
use Snowlane\SnowlaneException;

/** Holds all answers to one number: that of the first server that named one. */
final class OneNumber
{
    private const KNOWN_SECONDS = 300;

    /**
     * The number, and the URL of the server that named it first; null: none has yet.
     *
     * @var array{int, string}|null
     */
    private ?array $first;

    /**
     * @param string $key in the metadata of errors
     * @param string $name what the number is of
     * @param string $items what can be equal where two servers have two numbers
     * @param list<int> $allowed the only ones that may be; empty: the first that comes
     */
    public function __construct(
        private readonly string $key,
        private readonly string $name,
        private readonly string $items,
        private readonly array $allowed,
        private readonly Memory $memory,
    ) {
        $this->first = $memory->get($key);
    }

    public function isKnown(): bool
    {
        return $this->first !== null;
    }

    /**
     * Takes in the number of an answer, before anything else of it is read. 0: it has none.
     *
     * @throws SnowlaneException DEPLOYMENT_MISMATCH
     */
    public function admit(Endpoint $endpoint, int $number): void
    {
        if ($number === 0 || in_array($number, $this->allowed, true)) {
            return;
        }
        if ($this->allowed !== []) {
            throw $this->mismatch($endpoint, $number, $this->allowed, '');
        }
        // The processes of a pool have one stock: the first number that one of them sees is that of all.
        $mine = $this->first ?? [$number, $endpoint->url];
        $this->memory->add($this->key, $mine, self::KNOWN_SECONDS);
        $this->first = $this->memory->get($this->key) ?? $mine;
        [$expected, $url] = $this->first;
        if ($number !== $expected) {
            throw $this->mismatch($endpoint, $number, [$expected], $url);
        }
        // Kept for longer than any ID in stock.
        $this->memory->put($this->key, $this->first, self::KNOWN_SECONDS);
    }

    /** @param list<int> $numbers that may be */
    private function mismatch(Endpoint $endpoint, int $number, array $numbers, string $firstUrl): SnowlaneException
    {
        $expected = implode(', ', array_map(static fn (int $one) => sprintf('%08x', $one), $numbers));
        $found = sprintf('%08x', $number);
        $inUse = $expected . ($firstUrl === '' ? '' : ", first at $firstUrl");
        $text = "This server is of another {$this->name} ($found) than the one in use ($inUse): their {$this->items} can "
            . 'be equal. Correct the endpoints, or restart this process if the change is meant.';
        $metadata = [$this->key => $found, "expected_{$this->key}" => $expected];
        $metadata += $firstUrl === '' ? [] : ['endpoint_first' => $firstUrl];
        $reason = ErrorReason::DEPLOYMENT_MISMATCH;
        return new SnowlaneException($reason, $text, 'FAILED_PRECONDITION', $metadata, endpoint: $endpoint->url);
    }
}
