# The layout, from the lowest bit up: how far a field is shifted, and its highest value.
import threading
import time

EPOCH_MS = 1288834974657
TICK_MS = 1
TICKS_PER_MS = 1
TIME_SHIFT = 22
TIME_MAX = 2199023255551
TIME_BITS = 41
DATACENTER_SHIFT = 17
DATACENTER_MAX = 31
WORKER_SHIFT = 12
WORKER_MAX = 31
SEQUENCE_SHIFT = 0
SEQUENCE_MAX = 4095
ALL_BITS = 63


def check(name, value, highest):
    if not 0 <= value <= highest:
        raise ValueError(f"{name} is not from 0 to {highest}: {value}")
    return value


def compose(tick, datacenter, worker, sequence):
    return (
        check("time", tick, TIME_MAX) << TIME_SHIFT
        | check("datacenter", datacenter, DATACENTER_MAX) << DATACENTER_SHIFT
        | check("worker", worker, WORKER_MAX) << WORKER_SHIFT
        | check("sequence", sequence, SEQUENCE_MAX) << SEQUENCE_SHIFT
    )


def tick_of(unix_ms):
    if unix_ms < EPOCH_MS:
        raise ValueError(f"before the epoch: {unix_ms}")
    return (unix_ms - EPOCH_MS) * TICKS_PER_MS // TICK_MS


def make(unix_ms, datacenter, worker, sequence):
    return compose(tick_of(unix_ms), datacenter, worker, sequence)


def decode(id):
    check("ID", id, (1 << ALL_BITS) - 1)
    tick = check("time", id >> TIME_SHIFT & (1 << TIME_BITS) - 1, TIME_MAX)
    return (
        EPOCH_MS + tick * TICK_MS // TICKS_PER_MS,
        id >> DATACENTER_SHIFT & DATACENTER_MAX,
        id >> WORKER_SHIFT & WORKER_MAX,
        id >> SEQUENCE_SHIFT & SEQUENCE_MAX,
    )


class Generator:
    """Makes IDs: ids = Generator(0, 1); ids.next()

    They rise, and none repeats while it lives, in any number of threads. It keeps nothing, so these two repeat IDs, and
    nothing here sees it:
    - a restart after the clock was set back;
    - a second process with the same worker ID, such as a fork or each process of gunicorn.
    """

    def __init__(self, datacenter, worker):
        self.datacenter = check("datacenter", datacenter, DATACENTER_MAX)
        self.worker = check("worker", worker, WORKER_MAX)
        self.lock = threading.Lock()
        self.last = tick_of(time.time_ns() // 1_000_000)
        # An earlier life may have used this tick, so it counts as full: the first ID is of the next one.
        self.sequence = SEQUENCE_MAX

    def next(self):
        with self.lock:
            while True:
                now = tick_of(time.time_ns() // 1_000_000)
                if now < self.last:
                    raise RuntimeError(f"The clock is behind the last ID by {self.last - now} ticks.")
                if now > self.last:
                    self.last, self.sequence = now, 0
                elif self.sequence < SEQUENCE_MAX:
                    self.sequence += 1
                else:
                    # The tick is full: wait for the next one.
                    time.sleep(0.0001)
                    continue
                return compose(now, self.datacenter, self.worker, self.sequence)
