use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

// The layout, from the lowest bit up: how far a field is shifted, and its highest value.
const EPOCH_MS: i64 = 1288834974657;
const TICK_MS: i64 = 1;
const TICKS_PER_MS: i64 = 1;
const TIME_SHIFT: u32 = 22;
const TIME_MAX: i64 = 2199023255551;
const TIME_BITS: u32 = 41;
const DATACENTER_SHIFT: u32 = 17;
const DATACENTER_MAX: i64 = 31;
const WORKER_SHIFT: u32 = 12;
const WORKER_MAX: i64 = 31;
const SEQUENCE_SHIFT: u32 = 0;
const SEQUENCE_MAX: i64 = 4095;
const ALL_BITS: u32 = 63;

fn check(name: &str, value: i64, max: i64) -> Result<i64, String> {
    if value < 0 || value > max {
        return Err(format!("{name} is not from 0 to {max}: {value}"));
    }
    Ok(value)
}

fn compose(tick: i64, datacenter: i64, worker: i64, sequence: i64) -> Result<i64, String> {
    Ok(check("time", tick, TIME_MAX)? << TIME_SHIFT
        | check("datacenter", datacenter, DATACENTER_MAX)? << DATACENTER_SHIFT
        | check("worker", worker, WORKER_MAX)? << WORKER_SHIFT
        | check("sequence", sequence, SEQUENCE_MAX)? << SEQUENCE_SHIFT)
}

fn tick_of(unix_ms: i64) -> Result<i64, String> {
    if unix_ms < EPOCH_MS {
        return Err(format!("before the epoch: {unix_ms}"));
    }
    let ticks = (unix_ms - EPOCH_MS).checked_mul(TICKS_PER_MS);
    ticks.map(|ticks| ticks / TICK_MS).ok_or(format!("time is not from 0 to {TIME_MAX}: {unix_ms} ms"))
}

pub fn make(unix_ms: i64, datacenter: i64, worker: i64, sequence: i64) -> Result<i64, String> {
    compose(tick_of(unix_ms)?, datacenter, worker, sequence)
}

pub struct Parts {
    pub unix_ms: i64,
    pub datacenter: i64,
    pub worker: i64,
    pub sequence: i64,
}

pub fn decode(id: i64) -> Result<Parts, String> {
    check("ID", id, ((1u64 << ALL_BITS) - 1) as i64)?;
    let tick = check("time", id >> TIME_SHIFT & ((1u64 << TIME_BITS) - 1) as i64, TIME_MAX)?;
    Ok(Parts {
        unix_ms: EPOCH_MS + tick * TICK_MS / TICKS_PER_MS,
        datacenter: id >> DATACENTER_SHIFT & DATACENTER_MAX,
        worker: id >> WORKER_SHIFT & WORKER_MAX,
        sequence: id >> SEQUENCE_SHIFT & SEQUENCE_MAX,
    })
}

fn now() -> Result<i64, String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    tick_of(since.as_millis() as i64)
}

/// Makes IDs: `let ids = Generator::new(0, 1)?;`, then `ids.next()?`.
///
/// They rise, and none repeats while it lives, in any number of threads. It keeps nothing, so these two repeat IDs, and
/// nothing here sees it: a restart after the clock was set back, and a second process with the same worker ID.
pub struct Generator {
    datacenter: i64,
    worker: i64,
    /// The last tick, and its last sequence number.
    last: Mutex<(i64, i64)>,
}

impl Generator {
    pub fn new(datacenter: i64, worker: i64) -> Result<Self, String> {
        check("datacenter", datacenter, DATACENTER_MAX)?;
        check("worker", worker, WORKER_MAX)?;
        // An earlier life may have used this tick, so it counts as full: the first ID is of the next one.
        Ok(Generator { datacenter, worker, last: Mutex::new((now()?, SEQUENCE_MAX)) })
    }

    pub fn next(&self) -> Result<i64, String> {
        let mut last = self.last.lock().map_err(|error| error.to_string())?;
        loop {
            let (tick, sequence) = *last;
            let now = now()?;
            if now < tick {
                return Err(format!("the clock is behind the last ID by {} ticks", tick - now));
            }
            if now == tick && sequence == SEQUENCE_MAX {
                // The tick is full: wait for the next one.
                sleep(Duration::from_micros(100));
                continue;
            }
            *last = (now, if now == tick { sequence + 1 } else { 0 });
            return compose(now, self.datacenter, self.worker, last.1);
        }
    }
}
