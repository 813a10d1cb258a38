<?php

declare(strict_types=1);

// Takes four values of a sequence, and prints a line for each: the value, or the error.

use Snowlane\IdClient;
use Snowlane\SnowlaneException;

require __DIR__ . '/../autoload.php';

$orders = (new IdClient(getenv('SNOWLANE_URL'), retryMax: 0))->sequence('orders');
for ($call = 0; $call < 4; $call++) {
    try {
        echo $orders->nextValue()->value, "\n";
    } catch (SnowlaneException $failure) {
        echo $failure->reason->value, ' ', json_encode($failure->metadata, JSON_UNESCAPED_SLASHES), "\n";
    }
}
