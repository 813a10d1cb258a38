<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\ErrorReason;
use Snowlane\SnowlaneException;

/** Makes the calls of one client. */
final class Caller
{
    public readonly Transport $transport;
    public readonly Endpoints $endpoints;
    public readonly Deployments $deployments;
    public readonly Memory $memory;
    private bool $isClosed = false;

    public function __construct(public readonly Options $options)
    {
        $servers = $options->endpoints;
        sort($servers);
        $names = [$servers, $options->deployments];
        $this->memory = new Memory('snowlane:' . hash('xxh128', serialize($names)) . ':');
        $this->transport = new Transport($options);
        $this->endpoints = new Endpoints($options->endpoints, $this->memory);
        $this->deployments = new Deployments($options, $this->endpoints, $this->transport, $this->memory);
    }

    /**
     * Makes a call, and waits for its end.
     *
     * @param array<string, mixed> $message
     * @return array<string, mixed> the answer
     * @throws SnowlaneException
     */
    public function call(string $method, array $message, ?int $timeoutMs = null): array
    {
        $this->checkOpen();
        $limitMs = $this->options->attemptTimeoutMs;
        $call = new Call($this, $method, $message, $timeoutMs ?? $this->options->timeoutMs, $limitMs, false);
        while (!$call->step()) {
            $call->wait(INF);
        }
        return $call->answer ?? throw $call->failure;
    }

    /** @throws SnowlaneException CLIENT_CLOSED */
    public function checkOpen(): void
    {
        if ($this->isClosed) {
            throw new SnowlaneException(ErrorReason::CLIENT_CLOSED, 'The client is closed.', 'CANCELLED');
        }
    }

    public function close(): void
    {
        $this->isClosed = true;
    }
}
