use std::env;
use std::process::exit;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

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

/// One for each worker ID at a time, and none that starts again within a tick: nothing here checks that.
pub struct Generator {
    datacenter: i64,
    worker: i64,
    /// The last tick, and its last sequence number.
    last: Mutex<(i64, i64)>,
}

impl Generator {
    pub fn new(datacenter: i64, worker: i64) -> Self {
        Generator { datacenter, worker, last: Mutex::new((-1, 0)) }
    }

    pub fn next(&self) -> Result<i64, String> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
        let now = tick_of(since.as_millis() as i64)?;
        let mut last = self.last.lock().map_err(|error| error.to_string())?;
        // A clock that was set back, and a full tick, go on from the last time.
        *last = match *last {
            (tick, _) if now > tick => (now, 0),
            (tick, sequence) if sequence < SEQUENCE_MAX => (tick, sequence + 1),
            (tick, _) => (tick + 1, 0),
        };
        compose(last.0, self.datacenter, self.worker, last.1)
    }
}

fn run(args: &[String]) -> Result<String, String> {
    let numbers: Result<Vec<i64>, _> = args.iter().skip(1).map(|text| text.parse::<i64>()).collect();
    let numbers = numbers.map_err(|error| error.to_string())?;
    match (args.first().map(String::as_str), numbers.as_slice()) {
        (Some("make"), [unix_ms, datacenter, worker, sequence]) => {
            Ok(make(*unix_ms, *datacenter, *worker, *sequence)?.to_string())
        }
        (Some("decode"), ids) => {
            let lines = ids.iter().map(|id| {
                let parts = decode(*id)?;
                Ok(format!("{} {} {} {}", parts.unix_ms, parts.datacenter, parts.worker, parts.sequence))
            });
            Ok(lines.collect::<Result<Vec<_>, String>>()?.join("\n"))
        }
        _ => Ok(Generator::new(0, 0).next()?.to_string()),
    }
}

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    match run(&args) {
        Ok(line) => println!("{line}"),
        Err(error) => {
            eprintln!("{error}");
            exit(1);
        }
    }
}
