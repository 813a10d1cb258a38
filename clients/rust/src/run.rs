use crate::{
    error::Error,
    id::{Id, MAX_ID},
};

/// IDs that a server reserved: `first_id`, and `count` - 1 more, each `stride` above the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first ID.
    pub first_id: Id,
    /// How many IDs, at least 1.
    pub count: u32,
    /// The distance between neighbours, at least 1.
    pub stride: u64,
}

impl Run {
    /// The IDs, in rising order.
    pub fn ids(self) -> impl Iterator<Item = Id> {
        (0..u64::from(self.count)).map(move |place| Id::known(self.first_id.get() + place * self.stride))
    }
}

/// First number, count and stride of a run, as an answer has them.
pub(crate) type RawRun = (u64, u32, u64);

/// Holds runs to what can be; otherwise the answer is refused whole, with INVALID_RESPONSE.
pub(crate) fn check_runs(runs: &[RawRun], asked: u32) -> Result<(), Error> {
    let mut ends = Vec::with_capacity(runs.len());
    for &(first, count, stride) in runs {
        let last = u64::from(count).checked_sub(1).and_then(|steps| steps.checked_mul(stride));
        match last.and_then(|distance| distance.checked_add(first)) {
            Some(last) if first >= 1 && stride >= 1 && last <= MAX_ID => ends.push((first, last)),
            _ => return Err(Error::invalid("The server sent an impossible run.")),
        }
    }
    let sum: u64 = runs.iter().map(|&(_, count, _)| u64::from(count)).sum();
    if runs.is_empty() || sum > u64::from(asked) {
        return Err(Error::invalid(format!("The server sent {sum} IDs where 1 to {asked} were asked for.")));
    }
    ends.sort_unstable();
    if ends.windows(2).any(|pair| pair[0].1 >= pair[1].0) {
        return Err(Error::invalid("The server sent runs that overlap."));
    }
    Ok(())
}

/// Reads the runs of IDs of an answer.
pub(crate) fn runs_of(runs: Vec<crate::generated::IdRun>, asked: u32) -> Result<Vec<Run>, Error> {
    let raw: Vec<RawRun> = runs.iter().map(|run| (run.first_id, run.count, run.stride)).collect();
    check_runs(&raw, asked)?;
    Ok(raw.into_iter().map(|(first, count, stride)| Run { first_id: Id::known(first), count, stride }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_cannot_be_is_refused_whole() {
        let refused: [&[RawRun]; 7] =
            [&[], &[(5, 0, 1)], &[(5, 2, 0)], &[(0, 2, 1)], &[(MAX_ID, 2, 1)], &[(5, 11, 1)], &[(8, 4, 1), (5, 4, 1)]];
        for runs in refused {
            assert!(check_runs(runs, 10).is_err(), "{runs:?}");
        }
        assert!(check_runs(&[(u64::MAX, u32::MAX, u64::MAX)], u32::MAX).is_err());
        assert!(check_runs(&[(9, 4, 1), (5, 4, 1)], 10).is_ok());
        assert!(check_runs(&[(MAX_ID, 1, u64::MAX)], 10).is_ok());
    }
}
