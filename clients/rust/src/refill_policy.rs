use std::time::Duration;

const USE: Duration = Duration::from_secs(1);
const FAST: Duration = Duration::from_millis(250);

/// Says how many IDs to reserve, and when. Reads no clock: times are those since the buffer was made.
/// docs/adr/0237-thin-clients-without-hedge.md has the reason for its limits.
#[derive(Debug)]
pub(crate) struct RefillPolicy {
    rate_per_second: f64,
    mean_rtt: Option<Duration>,
    size: u64,
    asked_at: Option<Duration>,
    /// Two snapshots: the time, and the count of IDs handed out by then.
    marks: [(Duration, u64); 2],
}

impl RefillPolicy {
    pub(crate) fn new() -> Self {
        Self { rate_per_second: 0.0, mean_rtt: None, size: 0, asked_at: None, marks: [(Duration::ZERO, 0); 2] }
    }

    /// How many IDs to ask for now.
    pub(crate) fn want(&mut self, now: Duration, handed_out: u64, count_min: u32, count_max: u32) -> u32 {
        if now - self.marks[1].0 >= USE {
            self.marks = [self.marks[1], (now, handed_out)];
        }
        let (since, before) = self.marks[0];
        let measured = handed_out.saturating_sub(before) as f64 / (now - since).max(USE).as_secs_f64();
        self.rate_per_second = measured.max(self.rate_per_second / 2.0);
        let is_fast = self.asked_at.is_some_and(|asked_at| now - asked_at < FAST);
        self.asked_at = Some(now);
        let wanted =
            (self.rate_per_second * USE.as_secs_f64()).ceil().max(if is_fast { 2.0 * self.size as f64 } else { 0.0 });
        wanted.clamp(count_min.into(), count_max.into()) as u32
    }

    /// Takes in an answer, and how long it took.
    pub(crate) fn note_answer(&mut self, size: u64, rtt: Duration) {
        self.size = size;
        self.mean_rtt = Some(self.mean_rtt.map_or(rtt, |mean| mean.mul_f64(0.875) + rtt.mul_f64(0.125)));
    }

    /// The count of IDs at which the next answer is asked for.
    pub(crate) fn low_water_mark(&self) -> u64 {
        let needed = 8.0 * self.rate_per_second * self.mean_rtt().as_secs_f64();
        self.size.min(needed.max(self.size as f64 / 4.0).ceil() as u64)
    }

    /// How long the first attempt of a reservation may take: a reservation that is lost is only a gap.
    pub(crate) fn limit(&self, attempt_timeout: Duration) -> Duration {
        let longest = attempt_timeout / 2;
        let limit = self.mean_rtt.map_or(attempt_timeout / 4, |mean| 4 * mean);
        limit.max(Duration::from_millis(100)).min(longest.max(Duration::from_millis(1)))
    }

    pub(crate) fn rate_per_second(&self) -> f64 {
        self.rate_per_second
    }

    pub(crate) fn mean_rtt(&self) -> Duration {
        self.mean_rtt.unwrap_or_default()
    }
}
