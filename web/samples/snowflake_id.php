<?php
// The layout, from the lowest bit up: how far a field is shifted, and its highest value.
const EPOCH_MS = 1288834974657;
const TICK_MS = 1;
const TICKS_PER_MS = 1;
const TIME_SHIFT = 22;
const TIME_MAX = 2199023255551;
const TIME_BITS = 41;
const DATACENTER_SHIFT = 17;
const DATACENTER_MAX = 31;
const WORKER_SHIFT = 12;
const WORKER_MAX = 31;
const SEQUENCE_SHIFT = 0;
const SEQUENCE_MAX = 4095;
const ALL_BITS = 63;

// Needs PHP of 64 bits.
function check(string $name, int $value, int $max): int
{
    if ($value < 0 || $value > $max) {
        throw new RangeException("$name is not from 0 to $max: $value");
    }
    return $value;
}

function compose(int $tick, int $datacenter, int $worker, int $sequence): int
{
    return check("time", $tick, TIME_MAX) << TIME_SHIFT
        | check("datacenter", $datacenter, DATACENTER_MAX) << DATACENTER_SHIFT
        | check("worker", $worker, WORKER_MAX) << WORKER_SHIFT
        | check("sequence", $sequence, SEQUENCE_MAX) << SEQUENCE_SHIFT;
}

function tick_of(int $unixMs): int
{
    if ($unixMs < EPOCH_MS) {
        throw new RangeException("before the epoch: $unixMs");
    }
    return intdiv(($unixMs - EPOCH_MS) * TICKS_PER_MS, TICK_MS);
}

function make(int $unixMs, int $datacenter, int $worker, int $sequence): int
{
    return compose(tick_of($unixMs), $datacenter, $worker, $sequence);
}

function decode(int $id): array
{
    // All 63 bits are every number that is not negative: 1 << 63 would be one that is.
    check("ID", $id, ALL_BITS === 63 ? PHP_INT_MAX : (1 << ALL_BITS) - 1);
    $tick = check("time", $id >> TIME_SHIFT & ((1 << TIME_BITS) - 1), TIME_MAX);
    return [
        "unix_ms" => EPOCH_MS + intdiv($tick * TICK_MS, TICKS_PER_MS),
        "datacenter" => $id >> DATACENTER_SHIFT & DATACENTER_MAX,
        "worker" => $id >> WORKER_SHIFT & WORKER_MAX,
        "sequence" => $id >> SEQUENCE_SHIFT & SEQUENCE_MAX,
    ];
}

// One for each worker ID at a time, and none that starts again within a tick: nothing here checks that.
final class IdGenerator
{
    private int $last = -1;
    private int $sequence = 0;

    public function __construct(private int $datacenter, private int $worker)
    {
    }

    public function next(): int
    {
        $now = tick_of((int) (microtime(true) * 1000));
        // A clock that was set back, and a full tick, go on from the last time.
        if ($now > $this->last) {
            [$this->last, $this->sequence] = [$now, 0];
        } elseif ($this->sequence < SEQUENCE_MAX) {
            $this->sequence++;
        } else {
            [$this->last, $this->sequence] = [$this->last + 1, 0];
        }
        return compose($this->last, $this->datacenter, $this->worker, $this->sequence);
    }
}

$values = array_map("intval", array_slice($argv, 2));
echo match ($argv[1] ?? "") {
    "make" => make(...$values),
    "decode" => implode("\n", array_map(fn($id) => implode(" ", decode($id)), $values)),
    default => (new IdGenerator(0, 0))->next(),
}, "\n";
