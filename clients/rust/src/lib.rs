//! Unique, time-sorted 64-bit IDs from a [Snowlane](Client) server.
//!
//! **The promise: an ID is handed to at most one caller**, whatever is cancelled, retried, restarted or late.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = snowlane::Client::new("http://127.0.0.1:7609")?;
//! let ids = client.prefetch(Default::default())?;
//! println!("{}", ids.next_id().await?);
//! # Ok(())
//! # }
//! ```
//!
//! A [`Client`] makes one call for each ID. A [`Buffer`] reserves runs of IDs beside its callers, and hands them out from
//! memory. A [`Sequence`] counts: 1, 2, 3. All need a tokio runtime. A [`Layout`] reads the time in an ID, and needs none.

mod attempts;
mod buffer;
mod client;
mod connection;
mod connection_mistake;
mod deployments;
mod endpoint;
mod endpoints;
mod error;
#[allow(missing_docs, clippy::all, clippy::pedantic, rustdoc::all)]
mod generated {
    include!("generated/snowlane/v1/snowlane.v1.rs");
}
mod id;
mod layout;
mod one_number;
mod options;
mod refill_policy;
mod rpc_error;
mod run;
mod sequence;
mod stock;
mod stream;

pub use buffer::{Buffer, BufferOptions, BufferStats};
pub use client::{COUNT_MAX, Client};
pub use error::{Code, Error, Reason};
pub use id::{Id, MAX_ID};
pub use layout::{FieldKind, Layout, ParsedId};
pub use options::{ClientOptions, InvalidOption, Tls};
pub use run::Run;
pub use sequence::{ReservedValues, Sequence, SequenceValue, ValueRun};
pub use stream::IdStream;
