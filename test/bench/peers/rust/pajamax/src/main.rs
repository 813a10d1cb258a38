//! NextId served by pajamax, which has a thread for each connection and no limits: `pajamax-peer ADDRESS`.

#[path = "../../snowflake.rs"]
mod snowflake;

use pajamax::PajamaxService;
use prost::Message;
use snowflake::Snowflake;

#[derive(Clone, PartialEq, Message)]
struct NextIdRequest {}

#[derive(Clone, PartialEq, Message)]
struct NextIdResponse {
    #[prost(fixed64, tag = "1")]
    id: u64,
}

/// What pajamax-build would write of the proto, without the methods that no benchmark calls.
struct IdService(Snowflake);

impl PajamaxService for IdService {
    fn is_dispatch_mode(&self) -> bool {
        false
    }

    fn route(&self, path: &[u8]) -> Option<usize> {
        (path == b"/snowlane.v1.IdService/NextId").then_some(0)
    }

    fn handle(&self, _method: usize, message: &[u8], stream_id: u32) -> Result<(), pajamax::error::Error> {
        NextIdRequest::decode(message)?;
        pajamax::local_build_response(stream_id, Ok(NextIdResponse { id: self.0.next() }))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("usage: pajamax-peer ADDRESS")?;
    pajamax::Config::new().add_service(IdService(Snowflake::default())).serve(address)?;
    Ok(())
}
