<?php

declare(strict_types=1);

// What the workers of a pool run in the tests: takes some IDs, and says who did.

use Snowlane\IdClient;
use Snowlane\SnowlaneException;

require __DIR__ . '/../autoload.php';

$buffer = (new IdClient(explode(',', getenv('SNOWLANE_URL'))))->prefetch(maxAgeMs: 60_000);
[$ids, $reasons] = [[], []];
for ($left = (int) ($_GET['count'] ?? 1); $left > 0; $left--) {
    try {
        $ids[] = (string) $buffer->nextId();
    } catch (SnowlaneException $failure) {
        $reasons[] = $failure->reason->value;
    }
}
$worker = getmypid();
$refills = $buffer->stats()->refills;
header('content-type: application/json');
echo json_encode(compact('worker', 'ids', 'reasons', 'refills'));
