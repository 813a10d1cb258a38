<?php

declare(strict_types=1);

// A parent and its children take IDs from one buffer; each writes its own to standard output.

use Snowlane\IdClient;

require __DIR__ . '/../autoload.php';

$buffer = (new IdClient(getenv('SNOWLANE_URL')))->prefetch(maxAgeMs: 60_000, countMin: 1_000, isShared: false);
$lines = [(string) $buffer->nextId()];
$children = [];
for ($child = 0; $child < 3; $child++) {
    $processId = pcntl_fork();
    if ($processId === 0) {
        $children = [];
        break;
    }
    $children[] = $processId;
}
$lines = $children === [] ? [] : $lines;
foreach ($buffer->nextIds(500) as $id) {
    $lines[] = (string) $id;
}
foreach (array_chunk($lines, 100) as $chunk) {
    // In pieces that the kernel does not mix with those of the others.
    fwrite(STDOUT, implode("\n", $chunk) . "\n");
}
foreach ($children as $processId) {
    pcntl_waitpid($processId, $status);
}
