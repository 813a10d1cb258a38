<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\SnowlaneException;

/**
 * Sees to it that all IDs are of one deployment, and all values of one database of sequences: those of two can be
 * equal.
 */
final class Deployments
{
    private const MEET_MS = 500;

    private readonly OneNumber $deployment;
    private readonly OneNumber $database;
    private bool $hasMet = false;
    private ?SnowlaneException $mismatch = null;

    public function __construct(
        Options $options,
        private readonly Endpoints $endpoints,
        private readonly Transport $transport,
        Memory $memory,
    ) {
        $this->deployment = new OneNumber('deployment', 'deployment', 'IDs', $options->deployments, $memory);
        $this->database = new OneNumber('database', 'database of sequences', 'values', [], $memory);
    }

    /**
     * Asks every server for its deployment, before the first ID, for half a second at most.
     *
     * @throws SnowlaneException DEPLOYMENT_MISMATCH
     */
    public function meet(): void
    {
        if (!$this->hasMet && !$this->deployment->isKnown() && count($this->endpoints->all) > 1) {
            foreach ($this->askAll() as [$endpoint, $number]) {
                try {
                    $this->deployment->admit($endpoint, $number);
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
     * Takes in the deployment of an answer, and the database of its values, before anything else of it is read.
     *
     * @param array<string, mixed> $answer
     * @throws SnowlaneException DEPLOYMENT_MISMATCH
     */
    public function admit(Endpoint $endpoint, array $answer): void
    {
        $this->deployment->admit($endpoint, Runs::whole($answer['deployment'] ?? 0));
        $this->database->admit($endpoint, Runs::whole($answer['database'] ?? 0));
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
}
