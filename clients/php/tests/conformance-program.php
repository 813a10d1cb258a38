<?php

declare(strict_types=1);

// The lines of docs/internals/client-contract.md around the client: what `npm run conformance` starts.

use Snowlane\IdClient;
use Snowlane\PrefetchBuffer;
use Snowlane\SnowlaneException;

require __DIR__ . '/../autoload.php';

/**
 * No streams, no stock for an outage, no offline reading, no two regions; and no threads to make a fleet. A request
 * that runs out of time costs its connection of HTTP/1.1, so a late server gets a new one.
 */
const LEFT_OUT = [
    'wrong-certificates',
    'late-after-restart',
    'names',
    'streams-apart',
    'two-regions',
    'large-chunks',
    'invalid-chunks',
    'fresh-first',
    'stepped-clock',
    'read-alike',
    'fleet-restart',
    'fleet-stall',
];
const GRACE_MS = 5_000;

/** @var array<string, IdClient|PrefetchBuffer> */
$sessions = [];

function nowMs(): float
{
    return hrtime(true) / 1e6;
}

/** @return array<string, mixed> */
function shown(SnowlaneException $failure): array
{
    return [
        'reason' => $failure->reason->value,
        'code' => $failure->grpcCode,
        'metadata' => (object) $failure->metadata,
        'retryAfterMs' => $failure->retryAfterMs,
        'text' => $failure->getMessage(),
    ];
}

/** @param array<string, string> $keys */
function openSession(array $keys): IdClient|PrefetchBuffer
{
    $client = new IdClient(
        explode(',', $keys['endpoints']),
        token: $keys['token'] ?? null,
        timeoutMs: (int) ($keys['timeout_ms'] ?? 5_000),
        attemptTimeoutMs: (int) ($keys['attempt_timeout_ms'] ?? 2_000),
        retryMax: (int) ($keys['retry_max'] ?? 3),
    );
    $isShared = getenv('SNOWLANE_SHARED') === '1';
    $maxAgeMs = (int) ($keys['max_age_ms'] ?? 5_000);
    return ($keys['buffer'] ?? '0') === '1' ? $client->prefetch($maxAgeMs, isShared: $isShared) : $client;
}

/** @return array<string, mixed> */
function call(IdClient|PrefetchBuffer $session, int $count): array
{
    $results = [];
    for ($index = 0; $index < $count; $index++) {
        $startedAt = nowMs();
        try {
            $result = ['id' => (string) $session->nextId()];
        } catch (SnowlaneException $failure) {
            $result = shown($failure);
        }
        $results[] = $result + ['durationMs' => nowMs() - $startedAt];
    }
    return ['results' => $results];
}

/**
 * Takes IDs at an even rate. A call that fails is counted, and not made again.
 *
 * @return array<string, mixed>
 */
function take(IdClient|PrefetchBuffer $session, int $perSecond, float $seconds, string $path): array
{
    $out = fopen($path, 'wb');
    [$startedAt, $count, $reasons, $waitMaxMs, $firstMs] = [nowMs(), 0, [], 0.0, -1.0];
    for ($index = 0; $index < (int) ($perSecond * $seconds); $index++) {
        if (nowMs() > $startedAt + $seconds * 1_000 + GRACE_MS) {
            break;
        }
        $dueMs = $startedAt + $index * 1_000 / $perSecond - nowMs();
        usleep((int) max(0, $dueMs * 1_000));
        $calledAt = nowMs();
        try {
            $id = $session->nextId();
            fwrite($out, pack('JJ', $id, (int) (microtime(true) * 1_000)));
            $count++;
            $firstMs = $firstMs < 0 ? nowMs() - $startedAt : $firstMs;
        } catch (SnowlaneException $failure) {
            $reasons[$failure->reason->value] = ($reasons[$failure->reason->value] ?? 0) + 1;
        }
        $waitMaxMs = max($waitMaxMs, nowMs() - $calledAt);
    }
    fclose($out);
    $failures = array_sum($reasons);
    return compact('count', 'failures', 'waitMaxMs', 'firstMs') + ['reasons' => (object) $reasons];
}

while (($line = fgets(STDIN)) !== false) {
    $words = explode(' ', trim($line));
    $command = array_shift($words);
    $keys = [];
    foreach ($words as $word) {
        [$key, $keys[$key]] = explode('=', $word, 2);
    }
    $name = $keys['client'] ?? '';
    try {
        switch ($command) {
            case 'hello':
                $result = ['language' => 'php', 'leavesOut' => LEFT_OUT];
                break;
            case 'open':
                $sessions[$name] = openSession($keys);
                $result = (object) [];
                break;
            case 'call':
                $result = call($sessions[$name], (int) ($keys['count'] ?? 1));
                break;
            case 'take':
                $result = take($sessions[$name], (int) $keys['per_second'], (float) $keys['seconds'], $keys['out']);
                break;
            case 'stats':
                $result = (array) $sessions[$name]->stats();
                break;
            case 'close':
                $sessions[$name]->close();
                unset($sessions[$name]);
                $result = (object) [];
                break;
            default:
                throw new UnexpectedValueException("There is no command $command.");
        }
    } catch (SnowlaneException $failure) {
        $result = ['error' => shown($failure)];
    }
    echo json_encode($result, JSON_THROW_ON_ERROR), "\n";
    flush();
}
