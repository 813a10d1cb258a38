<?php

require __DIR__ . '/../autoload.php';

$client = new Snowlane\IdClient(getenv('SNOWLANE_URL') ?: 'http://127.0.0.1:7609');
$orders = $client->sequence('orders');
echo 'value ', $orders->nextValue()->value, "\n";
foreach ($orders->reserve(1_000)->runs as $run) {
    echo "values {$run->count} from {$run->firstValue}\n";
}
echo 'text ', $client->sequence('invoices')->nextText(), "\n";
