<?php

declare(strict_types=1);

// Takes IDs from a shared stock, whose keys APCu loses again and again. Prints each ID, and then how many times the
// stock was filled.

use Snowlane\IdClient;

require __DIR__ . '/../autoload.php';

$buffer = (new IdClient(getenv('SNOWLANE_URL')))->prefetch(maxAgeMs: 60_000, countMin: 100, isShared: true);
foreach (['/:cursor:/', '/:stock$/', '/^snowlane:/'] as $lost) {
    foreach ($buffer->nextIds(10) as $id) {
        echo $id, "\n";
    }
    apcu_delete(new APCUIterator($lost));
}
foreach ($buffer->nextIds(10) as $id) {
    echo $id, "\n";
}
echo $buffer->stats()->refills, "\n";
