//! NextId served by tonic on one thread: `tonic-peer ADDRESS`.

#[path = "../../snowflake.rs"]
mod snowflake;

use snowflake::Snowflake;
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

#[derive(Clone, PartialEq, prost::Message)]
struct NextIdRequest {}

#[derive(Clone, PartialEq, prost::Message)]
struct NextIdResponse {
    #[prost(fixed64, tag = "1")]
    id: u64,
}

#[derive(Clone)]
struct NextId(Arc<Snowflake>);

impl UnaryService<NextIdRequest> for NextId {
    type Response = NextIdResponse;
    type Future = Ready<Result<Response<NextIdResponse>, Status>>;

    fn call(&mut self, _: Request<NextIdRequest>) -> Self::Future {
        ready(Ok(Response::new(NextIdResponse { id: self.0.next() })))
    }
}

/// What tonic-build would write of the proto, without the methods that no benchmark calls.
#[derive(Clone)]
struct IdService(NextId);

impl NamedService for IdService {
    const NAME: &'static str = "snowlane.v1.IdService";
}

impl Service<http::Request<Body>> for IdService {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = self.0.clone();
        Box::pin(async move {
            if request.uri().path() != "/snowlane.v1.IdService/NextId" {
                return Ok(Status::unimplemented("no such method").into_http());
            }
            let codec = ProstCodec::<NextIdResponse, NextIdRequest>::default();
            Ok(Grpc::new(codec).unary(method, request).await)
        })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("usage: tonic-peer ADDRESS")?.parse()?;
    let service = IdService(NextId(Arc::default()));
    // One thread, as one process of Node has.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(tonic::transport::Server::builder().add_service(service).serve(address))?;
    Ok(())
}
