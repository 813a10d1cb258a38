<?php

// Uses the program that Learn shows: drive.mjs has the commands.

namespace SnowflakeId;

require __DIR__ . "/snowflake_id.php";

/** In place of PHP's own; null: the clock of the machine. */
$nowMs = null;
$looks = 0;

function microtime(bool $asFloat): float
{
    global $nowMs, $looks;
    if ($nowMs === null) {
        return \microtime($asFloat);
    }
    $nowMs += $looks++ > 0 ? 1 : 0;
    // In the middle of the millisecond, which no rounding leaves.
    return ($nowMs + 0.5) / 1000;
}

function print_lives(int $count, int $each): void
{
    for ($life = 0; $life < $count; $life++) {
        $ids = new Generator(0, 1);
        $first = $last = $ids->next();
        for ($made = 1; $made < $each; $made++) {
            $id = $ids->next();
            if ($id <= $last) {
                exit("$id came after $last\n");
            }
            $last = $id;
        }
        echo "$first $last\n";
    }
}

function outcome_of(string $history): array
{
    global $nowMs, $looks;
    [$nowMs, $looks] = [1_700_000_000_000, 0];
    $ids = new Generator(0, 1);
    $outcomes = [];
    foreach (str_split($history) as $step) {
        $looks = 0;
        if ($step === "m") {
            try {
                $outcomes[] = $ids->next();
            } catch (\RuntimeException $error) {
                $outcomes[] = "behind";
            }
            continue;
        }
        $nowMs += ["t" => 1, "b" => -2, "r" => 0][$step];
        if ($step === "r") {
            $ids = new Generator(0, 1);
        }
        $outcomes[] = "-";
    }
    return $outcomes;
}

$values = array_map("intval", array_slice($argv, 2));
match ($argv[1] ?? "") {
    "make" => print make(...$values) . "\n",
    "decode" => print implode("\n", array_map(fn($id) => implode(" ", decode($id)), $values)) . "\n",
    "lives" => print_lives(...$values),
    "histories" => array_map(
        function (string $line): void {
            echo implode(" ", outcome_of($line)), "\n";
        },
        explode("\n", trim(stream_get_contents(STDIN))),
    ),
    default => null,
};
