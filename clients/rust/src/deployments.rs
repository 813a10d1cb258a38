use crate::{
    attempts::Stamp,
    endpoint::Endpoint,
    endpoints::Endpoints,
    error::Error,
    generated::{GetInfoRequest, id_service_client::IdServiceClient},
    one_number::{DATABASE, DEPLOYMENT, OneNumber},
};
use std::{sync::Arc, time::Duration};
use tokio::{sync::OnceCell, task::JoinSet};

const MEET: Duration = Duration::from_millis(500);

/// What an answer names: the deployment of its IDs, or the database of its values.
pub(crate) enum Origin {
    Deployment(u32),
    Database(u32),
    Nothing,
}

/// Sees to it that all IDs are of one deployment, and all values of one database: those of two can be equal.
pub(crate) struct Deployments {
    deployment: OneNumber,
    database: OneNumber,
    met: OnceCell<Option<Error>>,
}

impl Deployments {
    pub(crate) fn new(allowed: Vec<u32>) -> Self {
        let (deployment, database) = (OneNumber::new(DEPLOYMENT, allowed), OneNumber::new(DATABASE, vec![]));
        Self { deployment, database, met: OnceCell::new() }
    }

    /// Asks every server for its deployment, before the first ID, for half a second at most.
    pub(crate) async fn meet(&self, endpoints: &Endpoints, stamp: &Stamp) -> Result<(), Error> {
        if endpoints.all.len() == 1 {
            return Ok(());
        }
        let mismatch = self.met.get_or_init(|| async {
            let mut first_mismatch = None;
            for (endpoint, number) in ask_all(endpoints, stamp).await {
                first_mismatch = first_mismatch.or(self.deployment.admit(&endpoint, number).err());
            }
            first_mismatch
        });
        mismatch.await.clone().map_or(Ok(()), Err)
    }

    /// Takes in the origin of an answer, before anything else of it is read. Fails with DEPLOYMENT_MISMATCH.
    pub(crate) fn admit(&self, endpoint: &Endpoint, origin: Origin) -> Result<(), Error> {
        match origin {
            Origin::Deployment(number) => self.deployment.admit(endpoint, number),
            Origin::Database(number) => self.database.admit(endpoint, number),
            Origin::Nothing => Ok(()),
        }
    }
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
