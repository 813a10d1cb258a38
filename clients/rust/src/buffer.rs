use crate::{
    attempts::{Attempts, Limits},
    client::{COUNT_MAX, check_count, reserve},
    endpoint::back_off,
    error::{Code, Error, Reason},
    id::Id,
    options::InvalidOption,
    refill_policy::RefillPolicy,
    stock::{Asked, RunInUse, Spares},
};
use arc_swap::ArcSwap;
use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    runtime::Handle,
    sync::Notify,
    time::{Instant, sleep, sleep_until, timeout_at},
};

const RETRY_INFO_MAX: Duration = Duration::from_secs(1);
/// One claim in this many looks at the age of its run.
const LOOK_EVERY: u64 = 64;

/// The options of a [`Buffer`].
#[derive(Clone, Copy, Debug)]
pub struct BufferOptions {
    /// The oldest that the reservation of an ID may be, 10 ms to 60 s.
    pub max_age: Duration,
    /// The fewest IDs of one reservation.
    pub count_min: u32,
    /// The most IDs of one reservation.
    pub count_max: u32,
}

impl Default for BufferOptions {
    fn default() -> Self {
        Self { max_age: Duration::from_secs(5), count_min: 8, count_max: 65_536 }
    }
}

/// Counters of a buffer: `reserved` is `handed_out` + `dropped` + `stock`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferStats {
    /// IDs given to callers.
    pub handed_out: u64,
    /// IDs taken into stock.
    pub reserved: u64,
    /// IDs dropped unused, because they grew too old or by `close`.
    pub dropped: u64,
    /// Reservations that were taken into stock.
    pub refills: u64,
    /// Reservations that failed, or whose answer was refused or too late.
    pub refill_failures: u64,
    /// Calls that found no stock and waited.
    pub waits: u64,
    /// IDs at hand, in use and spare.
    pub stock: u64,
    /// IDs handed out a second, as last measured.
    pub rate_per_second: f64,
    /// Mean round trip of successful reservations.
    pub mean_rtt: Duration,
}

/// IDs from a stock in memory, which is filled beside its callers. Any number of tasks may use it.
pub struct Buffer(Arc<Inner>);

struct Inner {
    attempts: Arc<Attempts>,
    options: BufferOptions,
    runtime: Handle,
    made_at: Instant,
    run: ArcSwap<RunInUse>,
    state: Mutex<State>,
    waiting: AtomicU64,
    waits: AtomicU64,
    changed: Notify,
}

struct State {
    spares: Spares,
    policy: RefillPolicy,
    is_asking: bool,
    is_closed: bool,
    reserved: u64,
    dropped: u64,
    refills: u64,
    refill_failures: u64,
    failures_in_row: u32,
    failure: Option<Error>,
}

impl Buffer {
    pub(crate) fn new(attempts: Arc<Attempts>, options: BufferOptions) -> Result<Self, InvalidOption> {
        if !(Duration::from_millis(10)..=Duration::from_secs(60)).contains(&options.max_age) {
            return Err(InvalidOption("max_age must be from 10 ms to 60 s"));
        }
        if options.count_min < 1 || options.count_min > options.count_max || options.count_max > COUNT_MAX {
            return Err(InvalidOption("count_min and count_max must be from 1 to 1,048,576, in this order"));
        }
        let runtime = Handle::try_current().map_err(|_| InvalidOption("a buffer needs a tokio runtime"))?;
        let state = State {
            spares: Spares::default(),
            policy: RefillPolicy::new(),
            is_asking: false,
            is_closed: false,
            reserved: 0,
            dropped: 0,
            refills: 0,
            refill_failures: 0,
            failures_in_row: 0,
            failure: None,
        };
        let inner = Arc::new(Inner {
            attempts: Arc::clone(&attempts),
            options,
            runtime,
            made_at: Instant::now(),
            run: ArcSwap::from_pointee(RunInUse::empty()),
            state: Mutex::new(state),
            waiting: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            changed: Notify::new(),
        });
        let weak = Arc::downgrade(&inner);
        attempts.on_close(move || weak.upgrade().iter().for_each(|inner| inner.close()));
        Ok(Self(inner))
    }

    /// One ID: from stock at once, else after a wait of at most the client's timeout.
    pub async fn next_id(&self) -> Result<Id, Error> {
        if let Some(id) = self.0.claim() {
            return Ok(id);
        }
        self.0.wait(Instant::now() + self.0.attempts.options.timeout).await
    }

    /// 1 to 1,048,576 IDs. If it fails, those that it had claimed are a gap.
    pub async fn next_ids(&self, count: u32) -> Result<Vec<Id>, Error> {
        check_count(count)?;
        let deadline = Instant::now() + self.0.attempts.options.timeout;
        let mut ids = Vec::with_capacity(count as usize);
        while ids.len() < count as usize {
            match self.0.claim() {
                Some(id) => ids.push(id),
                None => ids.push(self.0.wait(deadline).await?),
            }
        }
        Ok(ids)
    }

    /// An ID from stock, and none where it is empty. Never waits.
    pub fn next_id_now(&self) -> Option<Id> {
        self.0.claim()
    }

    /// Waits until there is stock, and takes no ID.
    pub async fn ready(&self) -> Result<(), Error> {
        self.0
            .wait_for(Instant::now() + self.0.attempts.options.timeout, |inner| (inner.stock() > 0).then_some(()))
            .await
    }

    /// A snapshot of the counters.
    pub fn stats(&self) -> BufferStats {
        let state = self.0.state();
        let stock = self.0.run.load().left() + state.spares.left();
        BufferStats {
            handed_out: state.reserved - state.dropped - stock,
            reserved: state.reserved,
            dropped: state.dropped,
            refills: state.refills,
            refill_failures: state.refill_failures,
            waits: self.0.waits.load(Ordering::Relaxed),
            stock,
            rate_per_second: state.policy.rate_per_second(),
            mean_rtt: state.policy.mean_rtt(),
        }
    }

    /// Drops the stock. Callers that wait get CLIENT_CLOSED. You may call it twice.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Buffer").field(&self.stats()).finish()
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stock(&self) -> u64 {
        self.run.load().left() + self.state().spares.left()
    }

    /// The fast path: one run, one atomic step.
    fn claim(self: &Arc<Self>) -> Option<Id> {
        loop {
            let run = self.run.load();
            if let Some((place, id)) = run.claim() {
                if place == run.mark {
                    self.ask();
                }
                if place % LOOK_EVERY != 0 || run.asked.age() <= self.options.max_age {
                    return Some(id);
                }
                // The ID that was claimed stays a gap, too: it counts as handed out.
                self.expire(&run);
            }
            if !self.next_run(&run) {
                return None;
            }
        }
    }

    /// Puts the next run in place of a used one. Says whether there is one.
    fn next_run(self: &Arc<Self>, used: &Arc<RunInUse>) -> bool {
        let mut state = self.state();
        if !Arc::ptr_eq(&self.run.load(), used) {
            return true;
        }
        let (next, dropped) = state.spares.take(self.options.max_age);
        state.dropped += dropped;
        let Some(next) = next else {
            drop(state);
            self.ask();
            return false;
        };
        self.run.store(Arc::new(next));
        true
    }

    fn expire(&self, run: &RunInUse) {
        let mut state = self.state();
        state.dropped += run.close();
    }

    /// Begins a reservation, unless one is going on. It belongs to the buffer, and no caller's deadline ends it.
    fn ask(self: &Arc<Self>) {
        let mut state = self.state();
        if state.is_asking || state.is_closed || !state.spares.is_empty() {
            return;
        }
        state.is_asking = true;
        self.runtime.spawn(refill(Arc::downgrade(self)));
    }

    async fn wait(self: &Arc<Self>, deadline: Instant) -> Result<Id, Error> {
        self.waits.fetch_add(1, Ordering::Relaxed);
        self.wait_for(deadline, Self::claim).await
    }

    /// Waits until a look gives something.
    async fn wait_for<T>(
        self: &Arc<Self>,
        deadline: Instant,
        look: impl Fn(&Arc<Self>) -> Option<T>,
    ) -> Result<T, Error> {
        let _waiting = Waiting::new(&self.waiting);
        let failures_before = self.state().refill_failures;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            self.attempts.check_open()?;
            if let Some(found) = look(self) {
                return Ok(found);
            }
            let failure = {
                let state = self.state();
                if state.is_closed {
                    return Err(Error::new(Reason::ClientClosed, Code::Cancelled, "The buffer is closed."));
                }
                state.failure.clone().filter(|_| state.refill_failures > failures_before)
            };
            if let Some(lasting) = failure.as_ref().filter(|failure| !failure.passes()) {
                return Err(lasting.clone());
            }
            self.ask();
            if timeout_at(deadline, changed).await.is_err() {
                return Err(failure.unwrap_or_else(|| Error::deadline("No ID came into stock in time.")));
            }
        }
    }

    fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let (_, dropped) = state.spares.take(Duration::ZERO);
        state.dropped += dropped + self.run.load().close();
        drop(state);
        self.changed.notify_waiters();
    }

    fn want(&self) -> (u32, Limits) {
        let mut state = self.state();
        let stock = self.run.load().left() + state.spares.left();
        let handed_out = state.reserved - state.dropped - stock;
        let BufferOptions { count_min, count_max, .. } = self.options;
        let count = state.policy.want(self.made_at.elapsed(), handed_out, count_min, count_max);
        let options = &self.attempts.options;
        let first_attempt = state.policy.limit(options.attempt_timeout);
        (count, Limits { timeout: options.timeout, first_attempt })
    }

    /// Takes the outcome of a reservation. Gives how long the next one has to wait where it failed.
    fn take_in(&self, outcome: Result<Vec<crate::run::Run>, Error>, asked: Asked) -> Option<Duration> {
        let mut state = self.state();
        let is_late = asked.age() > self.options.max_age;
        let outcome = match outcome {
            Ok(_) if is_late => Err(Error::deadline("The answer came later than max_age after it was asked for.")),
            outcome => outcome,
        };
        let pause = match outcome {
            Ok(_) if state.is_closed => None,
            Ok(runs) => {
                let count = runs.iter().map(|run| u64::from(run.count)).sum();
                state.policy.note_answer(count, asked.age());
                let mark = state.policy.low_water_mark();
                state.spares.add(&runs, asked, mark);
                state.reserved += count;
                state.refills += 1;
                (state.failure, state.failures_in_row) = (None, 0);
                None
            }
            Err(failure) => {
                state.refill_failures += 1;
                state.failures_in_row += 1;
                if failure.is_first_mistake() {
                    state.failures_in_row = state.failures_in_row.min(2);
                }
                let asked = failure.delay().unwrap_or_default().min(RETRY_INFO_MAX);
                // What waiting does not cure is asked again by the next caller.
                let pause = if failure.passes() { back_off(state.failures_in_row).max(asked) } else { Duration::ZERO };
                state.failure = Some(failure);
                Some(pause)
            }
        };
        state.is_asking = pause.is_some();
        pause
    }
}

/// One reservation, and after a failure the pause before the next may begin.
async fn refill(inner: Weak<Inner>) {
    let Some(buffer) = inner.upgrade() else { return };
    let asked = Asked::now();
    let (count, limits) = buffer.want();
    let outcome = reserve(&buffer.attempts, count, limits).await;
    let pause = buffer.take_in(outcome, asked);
    buffer.changed.notify_waiters();
    let max_age = buffer.options.max_age;
    drop(buffer);
    if let Some(pause) = pause {
        sleep(pause).await;
        let Some(buffer) = inner.upgrade() else { return };
        buffer.state().is_asking = false;
        let run = buffer.run.load_full();
        let is_touched = run.claimed() > 0 && run.left() > 0;
        if buffer.waiting.load(Ordering::Relaxed) > 0 || is_touched {
            buffer.ask();
        }
        return;
    }
    // The answer's timer: what is left of it then is dropped.
    sleep_until(asked.at + max_age).await;
    let Some(buffer) = inner.upgrade() else { return };
    let run = buffer.run.load_full();
    if run.asked.age() >= max_age {
        buffer.expire(&run);
    }
}

/// Counts a caller that waits, for as long as it does.
struct Waiting<'a>(&'a AtomicU64);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicU64) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
