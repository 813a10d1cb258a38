// The layout, from the lowest bit up: how far a field is shifted, and its highest value.
const EPOCH_MS = 1288834974657n;
const TICK_MS = 1n;
const TICKS_PER_MS = 1n;
const TIME_SHIFT = 22n;
const TIME_MAX = 2199023255551n;
const TIME_BITS = 41n;
const DATACENTER_SHIFT = 17n;
const DATACENTER_MAX = 31n;
const WORKER_SHIFT = 12n;
const WORKER_MAX = 31n;
const SEQUENCE_SHIFT = 0n;
const SEQUENCE_MAX = 4095n;
const ALL_BITS = 63n;

// IDs are BigInt: a Number has lost digits above 2^53.
function check(name, value, max) {
  if (value < 0n || value > max) throw new RangeError(`${name} is not from 0 to ${max}: ${value}`);
  return value;
}

function compose(tick, datacenter, worker, sequence) {
  return (
    (check("time", tick, TIME_MAX) << TIME_SHIFT) |
    (check("datacenter", datacenter, DATACENTER_MAX) << DATACENTER_SHIFT) |
    (check("worker", worker, WORKER_MAX) << WORKER_SHIFT) |
    (check("sequence", sequence, SEQUENCE_MAX) << SEQUENCE_SHIFT)
  );
}

function tickOf(unixMs) {
  if (unixMs < EPOCH_MS) throw new RangeError(`before the epoch: ${unixMs}`);
  return ((unixMs - EPOCH_MS) * TICKS_PER_MS) / TICK_MS;
}

export function make(unixMs, datacenter, worker, sequence) {
  return compose(tickOf(unixMs), datacenter, worker, sequence);
}

export function decode(id) {
  check("ID", id, (1n << ALL_BITS) - 1n);
  const tick = check("time", (id >> TIME_SHIFT) & ((1n << TIME_BITS) - 1n), TIME_MAX);
  return {
    unixMs: EPOCH_MS + (tick * TICK_MS) / TICKS_PER_MS,
    datacenter: (id >> DATACENTER_SHIFT) & DATACENTER_MAX,
    worker: (id >> WORKER_SHIFT) & WORKER_MAX,
    sequence: (id >> SEQUENCE_SHIFT) & SEQUENCE_MAX,
  };
}

// const ids = new Generator(0n, 1n); ids.next();
// Its IDs rise, and none repeats while it lives. It keeps nothing, so these two repeat IDs, and nothing here sees it:
// - a restart after the clock was set back;
// - a second process, tab or Worker with the same worker ID.
// No lock is needed: nothing else runs in between.
export class Generator {
  #last = tickOf(BigInt(Date.now()));
  // An earlier life may have used this tick, so it counts as full: the first ID is of the next one.
  #sequence = SEQUENCE_MAX;

  constructor(datacenter, worker) {
    this.datacenter = check("datacenter", datacenter, DATACENTER_MAX);
    this.worker = check("worker", worker, WORKER_MAX);
  }

  next() {
    for (;;) {
      const now = tickOf(BigInt(Date.now()));
      if (now < this.#last) throw new Error(`The clock is behind the last ID by ${this.#last - now} ticks.`);
      if (now > this.#last) [this.#last, this.#sequence] = [now, 0n];
      else if (this.#sequence < SEQUENCE_MAX) this.#sequence++;
      // The tick is full: wait for the next one.
      else continue;
      return compose(now, this.datacenter, this.worker, this.#sequence);
    }
  }
}
