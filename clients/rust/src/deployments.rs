use crate::{
    attempts::Stamp,
    endpoint::Endpoint,
    endpoints::Endpoints,
    error::{Code, Error, Reason},
    generated::{GetInfoRequest, id_service_client::IdServiceClient},
};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::OnceCell, task::JoinSet};

const MEET: Duration = Duration::from_millis(500);

/// Sees to it that all IDs are of one deployment: the IDs of two can be equal.
pub(crate) struct Deployments {
    allowed: Vec<u32>,
    /// The number of the deployment, and the URL of the server that named it first.
    first: Mutex<Option<(u32, String)>>,
    met: OnceCell<Option<Error>>,
}

impl Deployments {
    pub(crate) fn new(allowed: Vec<u32>) -> Self {
        Self { allowed, first: Mutex::new(None), met: OnceCell::new() }
    }

    /// Asks every server for its deployment, before the first ID, for half a second at most.
    pub(crate) async fn meet(&self, endpoints: &Endpoints, stamp: &Stamp) -> Result<(), Error> {
        if endpoints.all.len() == 1 {
            return Ok(());
        }
        let mismatch = self.met.get_or_init(|| async {
            let mut first_mismatch = None;
            for (endpoint, number) in ask_all(endpoints, stamp).await {
                first_mismatch = first_mismatch.or(self.admit(&endpoint, number).err());
            }
            first_mismatch
        });
        mismatch.await.clone().map_or(Ok(()), Err)
    }

    /// Takes in the deployment of an answer, before any ID of it is read. Fails with DEPLOYMENT_MISMATCH.
    pub(crate) fn admit(&self, endpoint: &Endpoint, number: u32) -> Result<(), Error> {
        if number == 0 || self.allowed.contains(&number) {
            return Ok(());
        }
        if let Some(&allowed) = self.allowed.first() {
            return Err(mismatch(endpoint, number, "the option deployments", allowed));
        }
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, url) = first.get_or_insert_with(|| (number, endpoint.url.clone()));
        if *known == number { Ok(()) } else { Err(mismatch(endpoint, number, url, *known)) }
    }
}

fn mismatch(endpoint: &Endpoint, number: u32, other: &str, other_number: u32) -> Error {
    let text = format!("This server is of the deployment {number:08x}, and {other} of {other_number:08x}.");
    Error::new(Reason::DeploymentMismatch, Code::FailedPrecondition, text)
        .with("deployment", format!("{number:08x}"))
        .with("other", format!("{other_number:08x}"))
        .of(&endpoint.url)
}

async fn ask_all(endpoints: &Endpoints, stamp: &Stamp) -> Vec<(Arc<Endpoint>, u32)> {
    let mut asking = JoinSet::new();
    for endpoint in &endpoints.all {
        let (endpoint, request) = (Arc::clone(endpoint), stamp.on(GetInfoRequest {}));
        asking.spawn(async move {
            let connection = endpoint.connection();
            let answer = IdServiceClient::new(connection.channel.clone()).get_info(request).await.ok()?.into_inner();
            connection.note_answer();
            let number = u32::from_str_radix(answer.deployment_fingerprint.get(..8)?, 16).ok()?;
            Some((endpoint, number))
        });
    }
    let mut numbers = Vec::new();
    // Who does not answer in time says so when it is called.
    let _ = tokio::time::timeout(MEET, async {
        while let Some(answer) = asking.join_next().await {
            numbers.extend(answer.ok().flatten());
        }
    })
    .await;
    numbers
}
