use crate::{
    attempts::Attempts,
    client::check_count,
    deployments::Origin,
    error::{Code, Error, Reason},
    generated::sequence_service_client::SequenceServiceClient,
    generated::{NextValueRequest, NextValueResponse, ReserveValuesRequest, ReserveValuesResponse},
    run::{RawRun, check_runs},
};
use std::sync::Arc;

/// One value of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceValue {
    /// 1 to 2^63 - 1.
    pub value: i64,
    /// The value by the sequence's template; empty without one.
    pub text: String,
    /// The period of the value; empty without one.
    pub period_key: String,
}

/// Values that a server reserved: `first_value`, and `count` - 1 more, each `increment` above the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueRun {
    /// The first value.
    pub first_value: i64,
    /// How many values, at least 1.
    pub count: u32,
    /// The distance between neighbours, at least 1.
    pub increment: i64,
}

/// Values of a sequence in runs, all of one period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedValues {
    /// At least one run.
    pub runs: Vec<ValueRun>,
    /// The period of the values; empty without one.
    pub period_key: String,
}

/// A sequence of the deployment: 1, 2, 3. A value whose answer was lost stays a gap.
#[derive(Clone)]
pub struct Sequence {
    attempts: Arc<Attempts>,
    name: String,
}

impl Sequence {
    pub(crate) fn new(attempts: Arc<Attempts>, name: &str) -> Self {
        Self { attempts, name: name.to_owned() }
    }

    /// The next value.
    pub async fn next_value(&self) -> Result<SequenceValue, Error> {
        let call = self.attempts.call(
            self.attempts.limits(),
            |answer: &NextValueResponse| Origin::Database(answer.database),
            |channel, stamp| async move {
                let request = NextValueRequest { name: self.name.clone(), for_time: None };
                SequenceServiceClient::new(channel).next_value(stamp.on(request)).await
            },
        );
        let NextValueResponse { value, text, period_key, .. } = call.await?;
        if value < 1 {
            return Err(Error::invalid("The server sent a value below 1."));
        }
        Ok(SequenceValue { value, text, period_key })
    }

    /// The text of the next value. INVALID_SEQUENCE where the sequence has no template: that value is then a gap.
    pub async fn next_text(&self) -> Result<String, Error> {
        let SequenceValue { value, text, .. } = self.next_value().await?;
        if !text.is_empty() {
            return Ok(text);
        }
        let name = &self.name;
        let text =
            format!("The sequence {name} has no text template, so its values have no text. Call next_value instead.");
        let error = Error::new(Reason::InvalidSequence, Code::InvalidArgument, text);
        Err(error.with("name", name).with("value", value).with("field", "text_template"))
    }

    /// 1 to `count` values, in runs.
    pub async fn reserve(&self, count: u32) -> Result<ReservedValues, Error> {
        check_count(count)?;
        let call = self.attempts.call(
            self.attempts.limits(),
            |answer: &ReserveValuesResponse| Origin::Database(answer.database),
            |channel, stamp| async move {
                let request = ReserveValuesRequest { name: self.name.clone(), count };
                SequenceServiceClient::new(channel).reserve_values(stamp.on(request)).await
            },
        );
        let ReserveValuesResponse { runs, period_key, .. } = call.await?;
        // What is below 0 is 0 here, which no run may have.
        let whole = |number: i64| u64::try_from(number).unwrap_or(0);
        let raw: Vec<RawRun> =
            runs.iter().map(|run| (whole(run.first_value), run.count, whole(run.increment))).collect();
        check_runs(&raw, count)?;
        let of = |run: &crate::generated::ValueRun| ValueRun {
            first_value: run.first_value,
            count: run.count,
            increment: run.increment,
        };
        Ok(ReservedValues { runs: runs.iter().map(of).collect(), period_key })
    }
}
