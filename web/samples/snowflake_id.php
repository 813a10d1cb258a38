<?php

namespace SnowflakeId;

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
        throw new \RangeException("$name is not from 0 to $max: $value");
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
        throw new \RangeException("before the epoch: $unixMs");
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

// $ids = new Generator(0, 1); $ids->next();
// Its IDs rise, and none repeats while it lives. It keeps nothing, so these two repeat IDs, and nothing here sees it:
// - a restart after the clock was set back;
// - a second process with the same worker ID. Under php-fpm and Apache each request is a life of its own, and those of
//   one moment are processes beside each other: each needs a worker ID of its own, or a service that makes the IDs.
// PHP runs one call at a time: no lock is needed.
final class Generator
{
    private int $last;
    // An earlier life may have used this tick, so it counts as full: the first ID is of the next one.
    private int $sequence = SEQUENCE_MAX;

    public function __construct(private int $datacenter, private int $worker)
    {
        check("datacenter", $datacenter, DATACENTER_MAX);
        check("worker", $worker, WORKER_MAX);
        $this->last = $this->now();
    }

    public function next(): int
    {
        while (($now = $this->now()) === $this->last && $this->sequence === SEQUENCE_MAX) {
            // The tick is full: wait for the next one.
            usleep(100);
        }
        if ($now < $this->last) {
            throw new \RuntimeException("The clock is behind the last ID by " . ($this->last - $now) . " ticks.");
        }
        $this->sequence = $now === $this->last ? $this->sequence + 1 : 0;
        $this->last = $now;
        return compose($now, $this->datacenter, $this->worker, $this->sequence);
    }

    private function now(): int
    {
        return tick_of((int) (microtime(true) * 1000));
    }
}
