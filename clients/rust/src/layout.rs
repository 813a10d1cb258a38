use crate::{
    error::{Code, Error, Reason},
    generated,
    id::Id,
};
use std::{
    ops::RangeInclusive,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

const NS_PER_MS: i128 = 1_000_000;
const NS_PER_S: i128 = 1_000_000_000;
/// 0001-01-01 and 9999-12-31T23:59:59.999Z: what `google.protobuf.Timestamp` can carry.
const UNIX_MS: RangeInclusive<i128> = -62_135_596_800_000..=253_402_300_799_999;
/// The clients of every language can count this many ticks exactly.
const TICK_MAX: i128 = (1 << 53) - 1;

/// What a field of a layout holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Ticks since the epoch.
    Timestamp,
    /// The ID of a data center.
    Datacenter,
    /// A worker ID.
    Worker,
    /// A number within the tick.
    Sequence,
}

/// How the 63 bits of an ID are divided. [`Client::layout`](crate::Client::layout) asks a server for the one of its
/// deployment.
///
/// ```
/// use snowlane::{FieldKind::*, Layout};
/// use std::time::{Duration, UNIX_EPOCH};
///
/// let epoch = UNIX_EPOCH + Duration::from_millis(1_288_834_974_657);
/// let fields = [(Timestamp, 41), (Datacenter, 5), (Worker, 5), (Sequence, 12)];
/// let twitter = Layout::new("twitter", epoch, Duration::from_millis(1), &fields)?;
/// let parsed = twitter.parse("1541815603606036480".parse()?)?;
/// assert_eq!((parsed.ticks, parsed.worker_id, parsed.sequence), (367_597_485_448, Some(26), Some(0)));
/// let day = twitter.id_range(parsed.created, parsed.created + Duration::from_secs(86_400))?;
/// assert!(day.contains(&parsed.id));
/// # Ok::<(), snowlane::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    name: String,
    epoch_ns: i128,
    tick_ns: i128,
    /// Of all fields.
    bits: u32,
    timestamp: Field,
    datacenter: Field,
    worker: Field,
    sequence: Field,
    /// The last tick of its life.
    tick_max: u64,
}

/// Where a field is in an ID; without bits where the layout has no such field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Field {
    bits: u32,
    shift: u32,
}

impl Field {
    fn max(self) -> u64 {
        (1 << self.bits) - 1
    }

    fn of(self, id: Id) -> u64 {
        (id.get() >> self.shift) & self.max()
    }

    fn of_or_none(self, id: Id) -> Option<u32> {
        (self.bits > 0).then(|| self.of(id) as u32)
    }
}

/// The parts of an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedId {
    /// The ID.
    pub id: Id,
    /// Since the layout's epoch.
    pub ticks: u64,
    /// When the ID's tick began.
    pub created: SystemTime,
    /// None where the layout has no such field, as in the two below.
    pub datacenter_id: Option<u32>,
    /// Which worker made it.
    pub worker_id: Option<u32>,
    /// The number within the tick.
    pub sequence: Option<u32>,
}

impl Layout {
    /// A layout with these fields, from the highest bit down; the lowest ends at bit 0. There must be a timestamp, and
    /// each kind may occur once. The epoch is a whole millisecond, and the tick is 1 us to 1 h: a divisor of one
    /// millisecond, or whole milliseconds. Its life ends with its timestamp field, with the year 9999, or at 2^53 - 1
    /// ticks, whichever is first. Fails with INVALID_LAYOUT.
    pub fn new(name: &str, epoch: SystemTime, tick: Duration, fields: &[(FieldKind, u32)]) -> Result<Self, Error> {
        let (epoch_ns, tick_ns) = (unix_ns(epoch), tick.as_nanos() as i128);
        if epoch_ns % NS_PER_MS != 0 || !UNIX_MS.contains(&(epoch_ns / NS_PER_MS)) {
            return Err(invalid(
                "The epoch is not a whole millisecond from year 1 to year 9999.",
                "epoch_ns",
                epoch_ns,
            ));
        }
        let divides = tick_ns > 0 && (NS_PER_MS % tick_ns == 0 || tick_ns % NS_PER_MS == 0);
        if !divides || tick < Duration::from_micros(1) || tick > Duration::from_secs(3_600) {
            let message =
                "The tick is not from 1 us to 1 h, or neither divides one millisecond nor is whole milliseconds.";
            return Err(invalid(message, "tick_ns", tick_ns));
        }
        let mut layout = Self {
            name: name.to_owned(),
            epoch_ns,
            tick_ns,
            bits: 0,
            timestamp: Field::default(),
            datacenter: Field::default(),
            worker: Field::default(),
            sequence: Field::default(),
            tick_max: 0,
        };
        for &(kind, bits) in fields.iter().rev() {
            layout.place(kind, bits)?;
        }
        if layout.timestamp.bits == 0 {
            return Err(invalid("The layout has no timestamp field.", "field", "timestamp"));
        }
        let identity = layout.datacenter.bits + layout.worker.bits;
        if identity > 32 {
            return Err(invalid("Datacenter and worker take more than 32 bits.", "bits", identity));
        }
        let life = (UNIX_MS.end() * NS_PER_MS - epoch_ns) / tick_ns;
        layout.tick_max = life.min(TICK_MAX).min(layout.timestamp.max().into()) as u64;
        Ok(layout)
    }

    fn place(&mut self, kind: FieldKind, bits: u32) -> Result<(), Error> {
        let (field, bits_max) = match kind {
            FieldKind::Timestamp => (&mut self.timestamp, 62),
            FieldKind::Datacenter => (&mut self.datacenter, 32),
            FieldKind::Worker => (&mut self.worker, 32),
            FieldKind::Sequence => (&mut self.sequence, 32),
        };
        let name = format!("{kind:?}").to_lowercase();
        if field.bits > 0 {
            return Err(invalid(format!("The layout has two fields of the kind {name}."), "field", name));
        }
        if !(1..=bits_max).contains(&bits) {
            let message = format!("The {name} field has {bits} bits; it may have 1 to {bits_max}.");
            return Err(invalid(message, "field", name));
        }
        *field = Field { bits, shift: self.bits };
        self.bits += bits;
        if self.bits > 63 { Err(invalid("The fields take more than 63 bits.", "bits", self.bits)) } else { Ok(()) }
    }

    /// The layout that a server tells.
    pub(crate) fn of_message(message: Option<generated::Layout>) -> Result<Self, Error> {
        let unsaid = || Error::invalid("The server did not say its layout.");
        let message = message.ok_or_else(unsaid)?;
        let (epoch, tick) = (message.epoch_time.ok_or_else(unsaid)?, message.tick.ok_or_else(unsaid)?);
        let kind_of = |field: &generated::LayoutField| match field.kind() {
            generated::LayoutFieldKind::Timestamp => Ok(FieldKind::Timestamp),
            generated::LayoutFieldKind::Datacenter => Ok(FieldKind::Datacenter),
            generated::LayoutFieldKind::Worker => Ok(FieldKind::Worker),
            generated::LayoutFieldKind::Sequence => Ok(FieldKind::Sequence),
            generated::LayoutFieldKind::Unspecified => Err(unsaid()),
        };
        let fields = message.fields.iter().map(|field| Ok((kind_of(field)?, field.bits)));
        let fields = fields.collect::<Result<Vec<_>, Error>>()?;
        let epoch = time_of(i128::from(epoch.seconds) * NS_PER_S + i128::from(epoch.nanos));
        let tick = Duration::try_from(tick).map_err(|_| unsaid())?;
        Self::new(&message.name, epoch, tick, &fields)
    }

    /// Of the preset, or `custom`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When and by which worker an ID was made. It cannot tell whether the ID was ever issued. Fails with MALFORMED_ID
    /// for an ID that has a bit outside every field, or a time past the layout's life.
    pub fn parse(&self, id: Id) -> Result<ParsedId, Error> {
        let ticks = self.timestamp.of(id);
        let why = match id.get() >> self.bits {
            0 if ticks <= self.tick_max => {
                return Ok(ParsedId {
                    id,
                    ticks,
                    created: time_of(self.epoch_ns + i128::from(ticks) * self.tick_ns),
                    datacenter_id: self.datacenter.of_or_none(id),
                    worker_id: self.worker.of_or_none(id),
                    sequence: self.sequence.of_or_none(id),
                });
            }
            0 => "carries a time past the layout's life".to_owned(),
            _ => format!("has more than the layout's {} bits", self.bits),
        };
        let error = Error::new(Reason::MalformedId, Code::InvalidArgument, format!("The ID {id} {why}."));
        Err(error.with("id", id).with("layout", &self.name))
    }

    /// The lowest and the highest ID of the interval from `start` to before `end`, for range queries over stored IDs.
    /// Neighbouring intervals give neighbouring ranges. Fails with INVALID_TIME_RANGE if no tick of the layout's life
    /// begins in the interval.
    pub fn id_range(&self, start: SystemTime, end: SystemTime) -> Result<RangeInclusive<Id>, Error> {
        let (start_ns, end_ns) = (unix_ns(start), unix_ns(end));
        let (first, after) = (self.tick_at(start_ns), self.tick_at(end_ns));
        if first >= after {
            let why = if start_ns < end_ns { "holds no tick of the layout" } else { "is empty or reversed" };
            let error = Error::new(Reason::InvalidTimeRange, Code::InvalidArgument, format!("The interval {why}."));
            return Err(error.with("start_ns", start_ns).with("end_ns", end_ns).with("layout", &self.name));
        }
        let rest = [self.datacenter, self.worker, self.sequence].map(|field| field.max() << field.shift);
        let last = (after - 1) << self.timestamp.shift | rest.into_iter().fold(0, |bits, field| bits | field);
        Ok(Id::new(first << self.timestamp.shift)?..=Id::new(last)?)
    }

    /// The first tick that begins at or after a time: 0 to one past the layout's life.
    fn tick_at(&self, unix_ns: i128) -> u64 {
        let since = (unix_ns - self.epoch_ns).max(0);
        let tick = (since + self.tick_ns - 1) / self.tick_ns;
        tick.min(i128::from(self.tick_max) + 1) as u64
    }
}

fn invalid(message: impl Into<String>, key: &str, value: impl std::fmt::Display) -> Error {
    Error::new(Reason::InvalidLayout, Code::InvalidArgument, message).with(key, value)
}

fn unix_ns(time: SystemTime) -> i128 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

fn time_of(unix_ns: i128) -> SystemTime {
    let long = unix_ns.unsigned_abs();
    let since = Duration::new((long / NS_PER_S.unsigned_abs()) as u64, (long % NS_PER_S.unsigned_abs()) as u32);
    if unix_ns < 0 { UNIX_EPOCH - since } else { UNIX_EPOCH + since }
}
