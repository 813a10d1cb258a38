use crate::{id::Id, run::Run};
use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};
use tokio::time::Instant;

/// Set in a cursor when its run is closed.
const CLOSED: u64 = 1 << 62;

/// When an answer was asked for, by both clocks: the monotonic one stands still while a machine is suspended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) at: Instant,
    at_wall: SystemTime,
}

impl Asked {
    pub(crate) fn now() -> Self {
        Self { at: Instant::now(), at_wall: SystemTime::now() }
    }

    pub(crate) fn age(self) -> Duration {
        self.at.elapsed().max(self.at_wall.elapsed().unwrap_or_default())
    }
}

/// A run with its cursor. An ID is claimed by one atomic step on the cursor, and by nothing else.
#[derive(Debug)]
pub(crate) struct RunInUse {
    first: u64,
    stride: u64,
    count: u64,
    /// The claim that meets the low-water mark.
    pub(crate) mark: u64,
    pub(crate) asked: Asked,
    cursor: AtomicU64,
}

impl RunInUse {
    pub(crate) fn new(run: Run, asked: Asked, mark: u64) -> Self {
        let (first, count) = (run.first_id.get(), u64::from(run.count));
        Self { first, stride: run.stride, count, mark, asked, cursor: AtomicU64::new(0) }
    }

    /// A run without an ID.
    pub(crate) fn empty() -> Self {
        let asked = Asked::now();
        Self { first: 1, stride: 1, count: 0, mark: u64::MAX, asked, cursor: AtomicU64::new(0) }
    }

    /// Which claim this is, and its ID; none where the run has no more.
    pub(crate) fn claim(&self) -> Option<(u64, Id)> {
        // Each call adds 1, so the cursor never comes near CLOSED by itself.
        let place = self.cursor.fetch_add(1, Ordering::Relaxed);
        (place < self.count).then(|| (place, Id::known(self.first + place * self.stride)))
    }

    /// Ends the run. Gives how many of its IDs were not claimed; 0 where it was closed before.
    pub(crate) fn close(&self) -> u64 {
        self.count - self.cursor.fetch_or(CLOSED, Ordering::Relaxed).min(self.count)
    }

    pub(crate) fn left(&self) -> u64 {
        self.count - self.cursor.load(Ordering::Relaxed).min(self.count)
    }

    pub(crate) fn claimed(&self) -> u64 {
        (self.cursor.load(Ordering::Relaxed) & !CLOSED).min(self.count)
    }
}

/// The runs that wait behind the one in use, each with the claim that meets the low-water mark.
#[derive(Debug, Default)]
pub(crate) struct Spares(VecDeque<(Run, Asked, u64)>);

impl Spares {
    /// Takes the runs of an answer. `mark`: the next answer is asked for when this many IDs of this one are left.
    pub(crate) fn add(&mut self, runs: &[Run], asked: Asked, mark: u64) {
        let mut left: u64 = runs.iter().map(|run| u64::from(run.count)).sum();
        for run in runs {
            let count = u64::from(run.count);
            let behind = left - count;
            // The claim after which `mark` are left, if it is in this run.
            let place = if behind <= mark && mark < left { left - mark - 1 } else { u64::MAX };
            let is_met_before = left <= mark;
            self.0.push_back((*run, asked, if is_met_before { 0 } else { place }));
            left = behind;
        }
    }

    /// The next run that is young enough, and how many IDs were dropped before it.
    pub(crate) fn take(&mut self, max_age: Duration) -> (Option<RunInUse>, u64) {
        let mut dropped = 0;
        while let Some((run, asked, mark)) = self.0.pop_front() {
            if asked.age() <= max_age {
                return (Some(RunInUse::new(run, asked, mark)), dropped);
            }
            dropped += u64::from(run.count);
        }
        (None, dropped)
    }

    pub(crate) fn left(&self) -> u64 {
        self.0.iter().map(|(run, ..)| u64::from(run.count)).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::HashSet, sync::Arc, thread};

    fn run(first: u64, count: u32, stride: u64) -> Run {
        Run { first_id: Id::known(first), count, stride }
    }

    #[tokio::test]
    async fn each_id_of_a_run_is_claimed_once_though_it_is_closed_meanwhile() {
        for _ in 0..100 {
            let in_use = Arc::new(RunInUse::new(run(1, 1_000, 7), Asked::now(), u64::MAX));
            let claimers: Vec<_> = (0..8)
                .map(|_| {
                    let in_use = Arc::clone(&in_use);
                    thread::spawn(move || std::iter::from_fn(|| in_use.claim()).collect::<Vec<_>>())
                })
                .collect();
            thread::yield_now();
            let dropped = in_use.close() + in_use.close();
            let claimed: Vec<_> = claimers.into_iter().flat_map(|one| one.join().expect("a claimer")).collect();
            let distinct: HashSet<_> = claimed.iter().collect();
            assert_eq!(distinct.len(), claimed.len());
            assert_eq!(claimed.len() as u64 + dropped, 1_000);
        }
    }

    #[tokio::test]
    async fn one_claim_meets_the_mark_of_an_answer_of_several_runs() {
        for mark in 0..=9 {
            let mut spares = Spares::default();
            spares.add(&[run(1, 4, 1), run(100, 5, 1)], Asked::now(), mark);
            let mut left = 9;
            let mut met = Vec::new();
            while let (Some(next), 0) = spares.take(Duration::from_secs(60)) {
                while let Some((place, _)) = next.claim() {
                    left -= 1;
                    if place == next.mark {
                        met.push(left);
                    }
                }
            }
            // A mark that is the whole answer is met by its first claim.
            assert_eq!(met.first(), Some(&mark.min(8)), "{mark}");
        }
    }

    #[tokio::test]
    async fn what_is_too_old_is_dropped_and_counted() {
        let mut spares = Spares::default();
        let asked = Asked::now();
        spares.add(&[run(1, 4, 1), run(100, 5, 1)], asked, 0);
        while asked.age().is_zero() {
            thread::yield_now();
        }
        assert!(matches!(spares.take(Duration::ZERO), (None, 9)));
    }
}
