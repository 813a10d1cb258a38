use crate::{
    connection_mistake::{innermost, mistake_of},
    error::{Code, Error, Reason},
};
use std::error::Error as _;
use tonic::Status;
use tonic_types::StatusExt;

const DOMAIN: &str = "snowlane.dev";

/// Whether a status is an answer of a server, and not what the library says of a connection.
pub(crate) fn is_answer(status: &Status) -> bool {
    status.source().is_none() && !is_end(status) && !is_page(status)
}

/// What the library says where a connection ends.
fn is_end(status: &Status) -> bool {
    matches!(status.code(), Code::Cancelled | Code::Unknown) && status.message().contains("h2 protocol error")
}

/// What the library says of an answer over HTTP/2 that is not gRPC.
fn is_page(status: &Status) -> bool {
    status.code() == Code::Internal && status.message().contains("invalid compression flag")
}

/// The error that a status says.
pub(crate) fn error_of(status: &Status, endpoint: &str) -> Error {
    if is_answer(status) { said_by_server(status) } else { said_by_library(status) }.of(endpoint)
}

fn said_by_server(status: &Status) -> Error {
    let details = status.get_error_details();
    let info = details.error_info().filter(|info| info.domain == DOMAIN);
    let named = info.map(|info| info.reason.as_str());
    let reason = named.and_then(Reason::of);
    let mut error = match reason {
        Some(reason) => Error::new(reason, status.code(), status.message()),
        // Nobody here cancelled: the server, or a proxy that ends, has dropped the call.
        None if matches!(status.code(), Code::Unavailable | Code::Cancelled) => {
            let text = format!("The server cannot answer now: {}", status.message());
            Error::new(Reason::Unreachable, Code::Unavailable, text)
        }
        None => Error::new(Reason::RpcFailed, status.code(), status.message()),
    };
    for (key, value) in info.iter().flat_map(|info| &info.metadata) {
        error = error.with(key, value);
    }
    if let (None, Some(named)) = (reason, named) {
        error = error.with("reason", named);
    }
    error.retry_after(details.retry_info().and_then(|info| info.retry_delay))
}

fn said_by_library(status: &Status) -> Error {
    let page = || ("not_grpc", "Something other than a gRPC server answers there.".to_owned());
    let (kind, text) = match mistake_of(status).or_else(|| is_page(status).then(page)) {
        Some((kind, text)) => (Some(kind), text),
        None => (None, format!("The server does not answer: {}", innermost(status))),
    };
    let error = Error::new(Reason::Unreachable, Code::Unavailable, text);
    kind.map_or(error.clone(), |kind| error.with("connection", kind))
}
