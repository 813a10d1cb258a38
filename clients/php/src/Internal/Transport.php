<?php

declare(strict_types=1);

namespace Snowlane\Internal;

/**
 * The requests of a client and its connections, over HTTP/1.1: a request that is given up takes its connection with it,
 * so a connection that answers nothing is never used again.
 */
final class Transport
{
    private const STEP_S = 0.0005;

    private ?\CurlMultiHandle $multi = null;
    private int $processId = 0;
    /** @var array<int, Exchange> */
    private array $running = [];
    /** @var list<mixed> what the parent had before a fork: to close it would speak on the parent's connections */
    private static array $inherited = [];

    public function __construct(private readonly Options $options)
    {
    }

    /**
     * Begins a request.
     *
     * @param array<string, mixed> $message
     * @throws \Snowlane\SnowlaneException RPC_FAILED, where there is no token
     */
    public function start(Endpoint $endpoint, string $method, array $message): Exchange
    {
        $headers = ['content-type: application/json', 'expect:', ...$this->options->tokenHeaders()];
        $handle = curl_init();
        curl_setopt_array($handle, $this->settings($endpoint, $method) + [
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_POSTFIELDS => json_encode((object) $message, JSON_THROW_ON_ERROR),
        ]);
        curl_multi_add_handle($this->multi(), $handle);
        $exchange = new Exchange($endpoint, $handle);
        $this->running[spl_object_id($handle)] = $exchange;
        $this->poll();
        return $exchange;
    }

    /** Sends and receives what can be at once. */
    public function poll(): void
    {
        $multi = $this->multi();
        curl_multi_exec($multi, $active);
        while (($message = curl_multi_info_read($multi)) !== false) {
            $key = spl_object_id($message['handle']);
            $exchange = $this->running[$key] ?? null;
            unset($this->running[$key]);
            $exchange?->finish($message['result']);
            curl_multi_remove_handle($multi, $message['handle']);
        }
    }

    /** Waits until something may have come, or until the time is over. */
    public function wait(float $milliseconds): void
    {
        $seconds = max(0.0, $milliseconds / 1_000);
        if ($this->running === [] || curl_multi_select($this->multi(), $seconds) < 1) {
            // Without a socket, libcurl does not wait.
            usleep((int) (1e6 * ($this->running === [] ? $seconds : min($seconds, self::STEP_S))));
        }
    }

    /** Gives a request up: its answer is never read. */
    public function cancel(Exchange $exchange): void
    {
        $key = spl_object_id($exchange->handle);
        if (isset($this->running[$key])) {
            unset($this->running[$key]);
            curl_multi_remove_handle($this->multi(), $exchange->handle);
        }
    }

    /** @return array<int, mixed> */
    private function settings(Endpoint $endpoint, string $method): array
    {
        $base = $endpoint->isUnix() ? 'http://localhost' : $endpoint->url;
        $settings = [
            CURLOPT_URL => "$base/snowlane.v1.$method",
            CURLOPT_POST => true,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_1_1,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_NOSIGNAL => true,
            CURLOPT_USERAGENT => 'snowlane-php/' . \Snowlane\IdClient::VERSION,
        ];
        if ($endpoint->isUnix()) {
            $settings[CURLOPT_UNIX_SOCKET_PATH] = substr($endpoint->url, strlen('unix:'));
        }
        $tls = $this->options->tls;
        return $settings + array_filter([
            CURLOPT_CAINFO => $tls?->caFile,
            CURLOPT_SSLCERT => $tls?->certFile,
            CURLOPT_SSLKEY => $tls?->keyFile,
        ], is_string(...));
    }

    private function multi(): \CurlMultiHandle
    {
        if ($this->multi !== null && $this->processId !== getmypid()) {
            self::$inherited[] = [$this->multi, $this->running];
            [$this->multi, $this->running] = [null, []];
        }
        $this->processId = (int) getmypid();
        return $this->multi ??= curl_multi_init();
    }
}
