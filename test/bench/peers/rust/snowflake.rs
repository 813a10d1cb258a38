//! IDs of Twitter's layout for the peers: 41 bits of milliseconds, worker 1, 12 bits of sequence. Behind a lock, as
//! bwmarrin/snowflake has them; it waits out a millisecond that is used up.

use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

const EPOCH_MS: u64 = 1_288_834_974_657;
const SEQUENCE_MAX: u64 = 4_095;

#[derive(Default)]
pub struct Snowflake {
    /// The millisecond of the last ID, and its sequence number.
    last: Mutex<(u64, u64)>,
}

impl Snowflake {
    pub fn next(&self) -> u64 {
        let mut last = self.last.lock().unwrap();
        let (mut ms, mut sequence) = (now_ms().max(last.0), last.1);
        if ms > last.0 {
            sequence = 0;
        } else if sequence < SEQUENCE_MAX {
            sequence += 1;
        } else {
            while ms <= last.0 {
                ms = now_ms();
            }
            sequence = 0;
        }
        *last = (ms, sequence);
        (ms - EPOCH_MS) << 22 | 1 << 12 | sequence
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}
