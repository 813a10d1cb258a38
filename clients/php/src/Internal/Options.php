<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\ErrorReason;
use Snowlane\SnowlaneException;
use Snowlane\Tls;

/** The options of a client, checked. No message shows a password or a token. */
final readonly class Options
{
    /** @var list<string> */
    public array $endpoints;

    /** @var list<int> the numbers of the deployments whose IDs may be used; empty: of the first that answers */
    public array $deployments;

    /**
     * @param list<string> $endpoints
     * @param list<string> $deployments
     */
    public function __construct(
        array $endpoints,
        public ?Tls $tls,
        #[\SensitiveParameter] private string|\Closure|null $token,
        bool $isInsecureTokenAllowed,
        public int $timeoutMs,
        public int $attemptTimeoutMs,
        public int $retryMax,
        array $deployments,
    ) {
        if (PHP_INT_SIZE !== 8) {
            throw new \InvalidArgumentException('An ID needs 64-bit PHP.');
        }
        if ($endpoints === []) {
            throw new \InvalidArgumentException('The option endpoints needs at least one endpoint.');
        }
        foreach ($endpoints as $endpoint) {
            $this->checkEndpoint($endpoint, $token !== null && !$isInsecureTokenAllowed);
        }
        if ($attemptTimeoutMs < 1) {
            throw new \InvalidArgumentException('The option attemptTimeoutMs must be at least 1.');
        }
        if ($retryMax < 0 || $retryMax > 3) {
            throw new \InvalidArgumentException('The option retryMax must be from 0 to 3.');
        }
        $this->endpoints = array_values(array_unique(array_map(static fn ($url) => rtrim($url, '/'), $endpoints)));
        $this->deployments = array_map(self::deploymentNumber(...), array_values($deployments));
    }

    /**
     * The header that shows who calls, asked for again for each attempt.
     *
     * @return list<string>
     * @throws SnowlaneException RPC_FAILED for a token that is not one line of printable ASCII characters
     */
    public function tokenHeaders(): array
    {
        if ($this->token === null) {
            return [];
        }
        $token = trim(is_string($this->token) ? $this->token : (string) ($this->token)());
        if (preg_match('/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?\z/', $token) !== 1) {
            $text = 'The token is not one line of printable ASCII characters.';
            throw new SnowlaneException(ErrorReason::RPC_FAILED, $text, 'UNAUTHENTICATED');
        }
        return ["authorization: Bearer $token"];
    }

    private function checkEndpoint(#[\SensitiveParameter] mixed $endpoint, bool $needsSecrecy): void
    {
        $unfit = 'An endpoint is http://HOST:PORT, https://HOST:PORT or unix:/PATH';
        if (!is_string($endpoint)) {
            throw new \InvalidArgumentException("$unfit, and a string.");
        }
        if (str_starts_with($endpoint, 'unix:/')) {
            return;
        }
        $parts = parse_url($endpoint);
        $scheme = is_array($parts) ? $parts['scheme'] ?? '' : '';
        if (!in_array($scheme, ['http', 'https'], true) || !isset($parts['host'])) {
            throw new \InvalidArgumentException("$unfit.");
        }
        if (array_intersect_key($parts, ['user' => 1, 'pass' => 1, 'query' => 1, 'fragment' => 1]) !== []) {
            throw new \InvalidArgumentException("$unfit, without a user, a query or a fragment.");
        }
        if (!in_array($parts['path'] ?? '', ['', '/'], true)) {
            throw new \InvalidArgumentException("$unfit, without a path.");
        }
        $isLoopback = preg_match('/^(localhost|127\.\d+\.\d+\.\d+|\[::1])$/', $parts['host']) === 1;
        if ($needsSecrecy && $scheme === 'http' && !$isLoopback) {
            $text = 'A token over http:// can be read on the way: begin the endpoint with https://, or set insecureToken.';
            throw new \InvalidArgumentException($text);
        }
    }

    private static function deploymentNumber(mixed $fingerprint): int
    {
        if (!is_string($fingerprint) || preg_match('/^[0-9a-f]{8}/i', $fingerprint) !== 1) {
            throw new \InvalidArgumentException('The option deployments has fingerprints, as snowlane doctor shows them.');
        }
        return (int) hexdec(substr($fingerprint, 0, 8));
    }
}
