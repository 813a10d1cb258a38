<?php

declare(strict_types=1);

// Makes calls that are refused before anything is sent, and prints a line for each.

use Snowlane\IdClient;
use Snowlane\SnowlaneException;

require __DIR__ . '/../autoload.php';

$client = static fn (mixed ...$options): IdClient => new IdClient(...$options);
$calls = [
    'no endpoint' => static fn () => $client([]),
    'an endpoint without a scheme' => static fn () => $client('127.0.0.1:7609'),
    'an endpoint with a password' => static fn () => $client('http://user:hunter2@127.0.0.1:7609'),
    'an endpoint with a path' => static fn () => $client('http://127.0.0.1:7609/ids'),
    'a token in the clear' => static fn () => $client('http://ids.example:7609', token: 'secret'),
    'too many retries' => static fn () => $client(retryMax: 4),
    'an unknown option' => static fn () => $client(retries: 3),
    'a file that is not there' => static fn () => new Snowlane\Tls(caFile: '/nowhere'),
    'a malformed fingerprint' => static fn () => $client(deployments: ['mine']),
    'a maxAge of nothing' => static fn () => $client()->prefetch(maxAgeMs: 0),
    'counts upside down' => static fn () => $client()->prefetch(countMin: 9, countMax: 8),
    'a shared stock without APCu' => static fn () => $client()->prefetch(isShared: true),
    'a copy of a client' => static fn () => clone $client(),
    'a copy of a buffer' => static fn () => serialize($client()->prefetch()),
    'no IDs' => static fn () => $client()->nextIds(0),
    'too many IDs' => static fn () => $client()->nextIds(IdClient::COUNT_MAX + 1),
    'a token of two lines' => static fn () => $client(token: "a\nb")->nextId(),
    'a closed client' => static function () use ($client) {
        $closed = $client();
        $closed->close();
        $closed->nextId();
    },
];
foreach ($calls as $what => $call) {
    try {
        $call();
        echo "$what: taken\n";
    } catch (SnowlaneException $failure) {
        echo "$what: {$failure->reason->value} {$failure->grpcCode}\n";
    } catch (Throwable $failure) {
        $class = $failure::class;
        // With its trace, in which PHP shows how arguments begin. Frames of this program are left out.
        $shown = $failure->getMessage() . implode(preg_grep('/Snowlane/', explode("\n", $failure->getTraceAsString())));
        echo "$what: $class", preg_match('/hun|secret/', $shown) === 1 ? ' with a secret' : '', "\n";
    }
}
