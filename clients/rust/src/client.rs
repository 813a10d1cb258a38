use crate::{
    attempts::{Attempts, Limits},
    buffer::{Buffer, BufferOptions},
    deployments::Origin,
    error::Error,
    generated::{
        GetInfoRequest, GetInfoResponse, NextIdRequest, ReserveIdsRequest, id_service_client::IdServiceClient,
    },
    id::{Id, MAX_ID},
    layout::Layout,
    options::{ClientOptions, InvalidOption},
    run::{Run, runs_of},
    sequence::Sequence,
    stream::IdStream,
};
use std::{sync::Arc, time::Duration};

/// The most IDs, or values, of one call.
pub const COUNT_MAX: u32 = 1_048_576;

/// Gives IDs: one call of a server for each of its methods. A clone is the same client. Any number of tasks may use it.
#[derive(Clone)]
pub struct Client {
    attempts: Arc<Attempts>,
}

impl Client {
    /// A client of one server, such as `http://127.0.0.1:7609`, with the default options. Nothing is sent yet. Needs a
    /// tokio runtime.
    pub fn new(endpoint: &str) -> Result<Self, InvalidOption> {
        Self::with_options(ClientOptions::new([endpoint]))
    }

    /// A client with options. Fails where one cannot be.
    pub fn with_options(options: ClientOptions) -> Result<Self, InvalidOption> {
        Ok(Self { attempts: Arc::new(Attempts::new(options)?) })
    }

    /// One ID, within another deadline than the client's.
    pub async fn next_id_within(&self, timeout: Duration) -> Result<Id, Error> {
        let limits = Limits { timeout, ..self.attempts.limits() };
        let call = self.attempts.call(
            limits,
            |answer: &crate::generated::NextIdResponse| Origin::Deployment(answer.deployment),
            |channel, stamp| async move {
                IdServiceClient::new(channel).next_id(stamp.on(NextIdRequest { text_format: None })).await
            },
        );
        match call.await?.id {
            id @ 1..=MAX_ID => Ok(Id::known(id)),
            _ => Err(Error::invalid("The server sent an impossible ID.")),
        }
    }

    /// One ID.
    pub async fn next_id(&self) -> Result<Id, Error> {
        self.next_id_within(self.attempts.options.timeout).await
    }

    /// 1 to 1,048,576 IDs, by as many calls as it takes. They rise as long as one server answers.
    pub async fn next_ids(&self, count: u32) -> Result<Vec<Id>, Error> {
        check_count(count)?;
        let mut ids = Vec::with_capacity(count as usize);
        while let Some(left) = count.checked_sub(ids.len() as u32).filter(|&left| left > 0) {
            for run in self.reserve(left).await? {
                ids.extend(run.ids());
            }
        }
        Ok(ids)
    }

    /// The runs of one call: 1 to `count` IDs in all.
    pub async fn reserve(&self, count: u32) -> Result<Vec<Run>, Error> {
        check_count(count)?;
        reserve(&self.attempts, count, self.attempts.limits()).await
    }

    /// 1 to 10^9 IDs in chunks, by a stream over a connection of its own.
    pub fn stream(&self, count: u64) -> Result<IdStream, Error> {
        IdStream::new(Arc::clone(&self.attempts), count)
    }

    /// The fingerprint of the deployment, as `snowlane doctor` shows it. A success says that the server can be called.
    pub async fn fingerprint(&self) -> Result<String, Error> {
        Ok(self.info().await?.deployment_fingerprint)
    }

    /// The layout of the deployment, by which [`Layout::parse`] and [`Layout::id_range`] work offline. Ask for it once.
    pub async fn layout(&self) -> Result<Layout, Error> {
        Layout::of_message(self.info().await?.layout)
    }

    async fn info(&self) -> Result<GetInfoResponse, Error> {
        let call = self.attempts.call(
            self.attempts.limits(),
            |_: &GetInfoResponse| Origin::Nothing,
            |channel, stamp| async move { IdServiceClient::new(channel).get_info(stamp.on(GetInfoRequest {})).await },
        );
        call.await
    }

    /// One sequence of the deployment. Nothing is sent before its first value.
    pub fn sequence(&self, name: &str) -> Sequence {
        Sequence::new(Arc::clone(&self.attempts), name)
    }

    /// IDs from a stock in memory, which is filled beside its callers.
    pub fn prefetch(&self, options: BufferOptions) -> Result<Buffer, InvalidOption> {
        Buffer::new(Arc::clone(&self.attempts), options)
    }

    /// Ends the client: every later call of it, of its clones and of its buffers is CLIENT_CLOSED.
    pub fn close(&self) {
        self.attempts.close();
    }
}

pub(crate) fn check_count(count: u32) -> Result<(), Error> {
    match count {
        1..=COUNT_MAX => Ok(()),
        0 => Err(Error::count_out_of_range(0, COUNT_MAX.into(), "")),
        _ => Err(Error::count_out_of_range(count.into(), COUNT_MAX.into(), " Use stream for more.")),
    }
}

pub(crate) async fn reserve(attempts: &Attempts, count: u32, limits: Limits) -> Result<Vec<Run>, Error> {
    let call = attempts.call(
        limits,
        |answer: &crate::generated::ReserveIdsResponse| Origin::Deployment(answer.deployment),
        |channel, stamp| async move {
            IdServiceClient::new(channel).reserve_ids(stamp.on(ReserveIdsRequest { count })).await
        },
    );
    runs_of(call.await?.runs, count)
}
