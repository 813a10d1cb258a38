//! Uses the program that Learn shows: drive.mjs has the commands.
mod snowflake_id;

use snowflake_id::{decode, make, Generator};
use std::io::{stdin, BufRead};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::{Duration, SystemTime, SystemTimeError};

/// The clock that the program reads here; 0: that of the machine.
static NOW_MS: AtomicI64 = AtomicI64::new(0);
static LOOKS: AtomicI64 = AtomicI64::new(0);

pub fn clock() -> Result<Duration, SystemTimeError> {
    if NOW_MS.load(SeqCst) == 0 {
        return SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    }
    if LOOKS.fetch_add(1, SeqCst) > 0 {
        NOW_MS.fetch_add(1, SeqCst);
    }
    Ok(Duration::from_millis(NOW_MS.load(SeqCst) as u64))
}

fn print_lives(count: i64, each: i64) -> Result<(), String> {
    for _ in 0..count {
        let ids = Generator::new(0, 1)?;
        let first = ids.next()?;
        let mut last = first;
        for _ in 1..each {
            let id = ids.next()?;
            if id <= last {
                return Err(format!("{id} came after {last}"));
            }
            last = id;
        }
        println!("{first} {last}");
    }
    Ok(())
}

fn outcome_of(history: &str) -> Result<String, String> {
    NOW_MS.store(1_700_000_000_000, SeqCst);
    LOOKS.store(0, SeqCst);
    let mut ids = Generator::new(0, 1)?;
    let mut outcomes = Vec::new();
    for step in history.chars() {
        LOOKS.store(0, SeqCst);
        let mut outcome = "-".to_string();
        match step {
            't' => NOW_MS.store(NOW_MS.load(SeqCst) + 1, SeqCst),
            'b' => NOW_MS.store(NOW_MS.load(SeqCst) - 2, SeqCst),
            'r' => ids = Generator::new(0, 1)?,
            _ => outcome = ids.next().map_or("behind".to_string(), |id| id.to_string()),
        }
        outcomes.push(outcome);
    }
    Ok(outcomes.join(" "))
}

fn print_threads(count: i64, each: i64) -> Result<(), String> {
    let ids = Generator::new(0, 1)?;
    let lines = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|_| scope.spawn(|| (0..each).map(|_| ids.next()).collect::<Result<Vec<_>, _>>()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Result<Vec<_>, _>>()
    })?;
    for line in lines {
        println!("{}", line.iter().map(i64::to_string).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}

fn run(command: &str, values: &[i64]) -> Result<(), String> {
    match (command, values) {
        ("make", [unix_ms, datacenter, worker, sequence]) => {
            println!("{}", make(*unix_ms, *datacenter, *worker, *sequence)?);
        }
        ("decode", ids) => {
            for id in ids {
                let parts = decode(*id)?;
                println!("{} {} {} {}", parts.unix_ms, parts.datacenter, parts.worker, parts.sequence);
            }
        }
        ("lives", [count, each]) => print_lives(*count, *each)?,
        ("threads", [count, each]) => print_threads(*count, *each)?,
        ("histories", []) => {
            for line in stdin().lock().lines() {
                println!("{}", outcome_of(&line.map_err(|error| error.to_string())?)?);
            }
        }
        _ => {}
    }
    Ok(())
}

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let values: Result<Vec<i64>, _> = args.iter().skip(1).map(|text| text.parse::<i64>()).collect();
    let values = values.map_err(|error| error.to_string())?;
    run(args.first().map_or("", String::as_str), &values)
}
