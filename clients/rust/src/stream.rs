use crate::{
    attempts::Attempts,
    deployments::Origin,
    error::Error,
    generated::{BatchNextIdsRequest, BatchNextIdsResponse, id_service_client::IdServiceClient},
    id::{Id, MAX_ID},
    rpc_error::error_of,
};
use std::sync::Arc;
use tokio::time::timeout;
use tonic::Streaming;

const STREAM_COUNT_MAX: u64 = 1_000_000_000;

/// IDs in chunks: exactly as many as were asked for, or an error. A stream that breaks goes on with another one, whose
/// IDs may begin lower.
pub struct IdStream {
    attempts: Arc<Attempts>,
    left: u64,
    open: Option<OpenStream>,
}

struct OpenStream {
    chunks: Streaming<BatchNextIdsResponse>,
    endpoint: String,
    /// The last ID: the IDs of one stream rise.
    last: u64,
}

impl IdStream {
    pub(crate) fn new(attempts: Arc<Attempts>, count: u64) -> Result<Self, Error> {
        match count {
            1..=STREAM_COUNT_MAX => Ok(Self { attempts, left: count, open: None }),
            _ => Err(Error::count_out_of_range(count, STREAM_COUNT_MAX, "")),
        }
    }

    /// The next chunk; `None` after the last one. The timeout of the client bounds the wait for each. After an error,
    /// the next call goes on with what is left.
    pub async fn next_chunk(&mut self) -> Result<Option<Vec<Id>>, Error> {
        let mut retries_left = self.attempts.options.retry_max;
        loop {
            if self.left == 0 {
                self.open = None;
                return Ok(None);
            }
            match self.try_next().await {
                Ok(ids) => return Ok(Some(ids)),
                Err(failure) => {
                    self.open = None;
                    if !failure.is_retried() || failure.is_first_mistake() || retries_left == 0 {
                        return Err(failure);
                    }
                    retries_left -= 1;
                }
            }
        }
    }

    async fn try_next(&mut self) -> Result<Vec<Id>, Error> {
        self.attempts.check_open()?;
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.begin().await?,
        };
        let late = |_| Error::deadline("The server has not sent a chunk in time.").of(&open.endpoint);
        let chunk = timeout(self.attempts.options.timeout, open.chunks.message()).await.map_err(late)?;
        let Some(chunk) = chunk.map_err(|status| error_of(&status, &open.endpoint))? else {
            let text = format!("The server's stream ended {} IDs early.", self.left);
            return Err(Error::invalid(text).of(&open.endpoint));
        };
        self.admit(&open.endpoint, chunk.deployment)?;
        let ids = self.read(&chunk.ids, &mut open)?;
        self.left -= ids.len() as u64;
        self.open = Some(open);
        Ok(ids)
    }

    /// Opens a stream by the attempts of a call, each over a connection of its own.
    async fn begin(&self) -> Result<OpenStream, Error> {
        let count = self.left;
        let endpoints = &self.attempts.endpoints;
        let endpoint = std::sync::Mutex::new(String::new());
        let chunks = self.attempts.call(
            self.attempts.limits(),
            |_: &Streaming<BatchNextIdsResponse>| Origin::Nothing,
            |_, stamp| {
                let (chosen, _) = endpoints.choose();
                chosen.url.clone_into(&mut endpoint.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
                async move {
                    let request = BatchNextIdsRequest { count, chunk_size: 0, text_format: None };
                    IdServiceClient::new(chosen.channel_apart()).batch_next_ids(stamp.on(request)).await
                }
            },
        );
        let chunks = chunks.await?;
        let endpoint = endpoint.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(OpenStream { chunks, endpoint, last: 0 })
    }

    fn admit(&self, url: &str, number: u32) -> Result<(), Error> {
        let endpoint = self.attempts.endpoints.all.iter().find(|one| one.url == url);
        endpoint.map_or(Ok(()), |endpoint| self.attempts.admit(endpoint, Origin::Deployment(number)))
    }

    fn read(&self, ids: &[u64], open: &mut OpenStream) -> Result<Vec<Id>, Error> {
        if ids.is_empty() || ids.len() as u64 > self.left {
            return Err(Error::invalid("The server sent an impossible chunk.").of(&open.endpoint));
        }
        for &id in ids {
            if id <= open.last || id > MAX_ID {
                return Err(Error::invalid("The server sent IDs that are not in ascending order.").of(&open.endpoint));
            }
            open.last = id;
        }
        Ok(ids.iter().map(|&id| Id::known(id)).collect())
    }
}
