<?php

require __DIR__ . '/../autoload.php';

$client = new Snowlane\IdClient(getenv('SNOWLANE_URL') ?: 'http://127.0.0.1:7609');
echo $client->nextId(), "\n";

$ids = $client->prefetch();
for ($count = 0; $count < 10; $count++) {
    echo $ids->nextId(), "\n";
}
