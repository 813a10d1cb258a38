//! What a failed connection says: the table "connection mistakes" of docs/internals/client-contract.md.

use std::{error::Error as StdError, io};

const TLS_HINT: &str = "if the server speaks TLS, begin the endpoint with https://";

/// The kind of a mistake, and its sentence. `None`: nothing known, so the text is that of the library.
pub(crate) fn mistake_of(error: &(dyn StdError + 'static)) -> Option<(&'static str, String)> {
    let texts: Vec<String> = sources(error).map(|one| one.to_string().to_lowercase()).collect();
    let says = |parts: &[&str]| texts.iter().any(|text| parts.iter().any(|part| text.contains(part)));
    let is_io = |kinds: &[io::ErrorKind]| {
        sources(error).filter_map(|one| one.downcast_ref::<io::Error>()).any(|one| kinds.contains(&one.kind()))
    };
    let mistake = |kind, text: &str| Some((kind, text.to_owned()));
    if is_io(&[io::ErrorKind::ConnectionRefused, io::ErrorKind::NotFound]) {
        return mistake("refused", "The connection was refused: no server listens there.");
    }
    if says(&["failed to lookup address", "dns error", "name or service not known"]) {
        return mistake("no_address", "The host name has no address.");
    }
    if let Some(found) = tls_mistake(&says) {
        return Some(found);
    }
    // An answer in HTTP/1.1 is not a frame of HTTP/2.
    if says(&["frame with invalid size", "frame_size_error", "invalid http version", "unspecific protocol error"]) {
        return mistake("not_grpc", "Something other than a gRPC server answers there.");
    }
    let ends = [
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::ConnectionAborted,
        io::ErrorKind::BrokenPipe,
        io::ErrorKind::UnexpectedEof,
    ];
    if is_io(&ends) || says(&["connection closed", "broken pipe", "closed before message", "operation was canceled"]) {
        return Some(("closed", format!("The connection was closed before any answer: {TLS_HINT}.")));
    }
    None
}

fn tls_mistake(says: &dyn Fn(&[&str]) -> bool) -> Option<(&'static str, String)> {
    let mistake = |kind, text: &str| Some((kind, text.to_owned()));
    if says(&["invalidcontenttype", "corrupt message", "received corrupt"]) {
        return mistake("not_tls", "The server does not speak TLS: begin the endpoint with http://.");
    }
    if says(&["expired", "notvalidyet", "not valid yet"]) {
        return mistake("expired", "The certificate of the server has expired, or is not valid yet.");
    }
    if says(&["notvalidforname", "not valid for name", "certificate not valid for"]) {
        let text = "The certificate of the server is for another host: correct the endpoint, or the option tls.";
        return mistake("wrong_host", text);
    }
    if says(&["certificaterequired", "certificate required", "badcertificate", "alert: unknownca"]) {
        let text = "The server requires a client certificate that it trusts: give the option tls one with its key.";
        return mistake("needs_certificate", text);
    }
    if says(&["invalid peer certificate", "unknownissuer", "unknown issuer"]) {
        let text = "The certificate of the server is not trusted: give the option tls the authority that signed it.";
        return mistake("untrusted", text);
    }
    None
}

fn sources<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&one| one.source())
}

/// The innermost text of an error, which says most.
pub(crate) fn innermost(error: &(dyn StdError + 'static)) -> String {
    sources(error).last().map(ToString::to_string).unwrap_or_default()
}
