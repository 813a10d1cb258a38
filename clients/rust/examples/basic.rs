//! Takes one ID by a call, and ten from a buffer.
use snowlane::{BufferOptions, Client};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("SNOWLANE_URL").unwrap_or_else(|_| "http://127.0.0.1:7609".to_owned());
    let client = Client::new(&url)?;
    println!("{}", client.next_id().await?);

    let ids = client.prefetch(BufferOptions::default())?;
    for _ in 0..10 {
        println!("{}", ids.next_id().await?);
    }
    Ok(())
}
