<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\ErrorReason;
use Snowlane\SnowlaneException;

/** Sees to it that all IDs are of one deployment: the IDs of two can be equal. */
final class Deployments
{
    private const MEET_MS = 500;
    private const KNOWN_SECONDS = 300;

    /** The number of the deployment and the URL of the server that named it first; 0: none has yet. */
    private int $number = 0;
    private string $firstUrl = '';
    private bool $hasMet = false;
    private ?SnowlaneException $mismatch = null;

    public function __construct(
        private readonly Options $options,
        private readonly Endpoints $endpoints,
        private readonly Transport $transport,
        private readonly Memory $memory,
    ) {
        [$this->number, $this->firstUrl] = $memory->get('deployment') ?? [0, ''];
    }

    /**
     * Asks every server for its deployment, before the first ID, for half a second at most.
     *
     * @throws SnowlaneException DEPLOYMENT_MISMATCH
     */
    public function meet(): void
    {
        if (!$this->hasMet && $this->number === 0 && count($this->endpoints->all) > 1) {
            foreach ($this->askAll() as [$endpoint, $number]) {
                try {
                    $this->admit($endpoint, $number);
                } catch (SnowlaneException $mismatch) {
                    $this->mismatch = $mismatch;
                }
            }
        }
        $this->hasMet = true;
        if ($this->mismatch !== null) {
            throw $this->mismatch;
        }
    }

    /**
     * Takes in the deployment of an answer, before any ID of it is read.
     *
     * @throws SnowlaneException DEPLOYMENT_MISMATCH
     */
    public function admit(Endpoint $endpoint, int $number): void
    {
        if ($number === 0 || in_array($number, $this->options->deployments, true)) {
            return;
        }
        if ($this->options->deployments !== []) {
            throw $this->mismatchOf($endpoint, $number, 'the option deployments', $this->options->deployments[0]);
        }
        if ($this->number === 0) {
            // The processes of a pool have one stock: the first number that one of them sees is that of all.
            $isFirst = $this->memory->add('deployment', [$number, $endpoint->url], self::KNOWN_SECONDS);
            $known = $isFirst ? null : $this->memory->get('deployment');
            [$this->number, $this->firstUrl] = $known ?? [$number, $endpoint->url];
        }
        if ($number !== $this->number) {
            throw $this->mismatchOf($endpoint, $number, $this->firstUrl, $this->number);
        }
    }

    /** @return list<array{Endpoint, int}> */
    private function askAll(): array
    {
        $until = Clock::nowMs() + self::MEET_MS;
        $exchanges = array_map(
            fn (Endpoint $endpoint) => $this->transport->start($endpoint, 'IdService/GetInfo', []),
            $this->endpoints->all,
        );
        $isDone = static fn (Exchange $exchange) => $exchange->isDone;
        while (count(array_filter($exchanges, $isDone)) < count($exchanges) && Clock::nowMs() < $until) {
            $this->transport->wait($until - Clock::nowMs());
            $this->transport->poll();
        }
        $numbers = [];
        foreach ($exchanges as $exchange) {
            $this->transport->cancel($exchange);
            try {
                $print = $exchange->isDone ? Answers::read($exchange)['deploymentFingerprint'] ?? '' : '';
                $numbers[] = [$exchange->endpoint, (int) hexdec(substr((string) $print, 0, 8))];
            } catch (SnowlaneException) {
                // It says so again when it is called.
                continue;
            }
        }
        return $numbers;
    }

    private function mismatchOf(Endpoint $endpoint, int $number, string $other, int $otherNumber): SnowlaneException
    {
        $text = sprintf('This server is of the deployment %08x, and %s of %08x.', $number, $other, $otherNumber);
        return new SnowlaneException(
            ErrorReason::DEPLOYMENT_MISMATCH,
            $text,
            'FAILED_PRECONDITION',
            ['deployment' => sprintf('%08x', $number), 'other' => sprintf('%08x', $otherNumber)],
            endpoint: $endpoint->url,
        );
    }
}
