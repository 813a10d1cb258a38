//! What a client and its buffers do once they are closed: no server is needed for it.
use snowlane::{BufferOptions, Client, Reason};

const NOBODY: &str = "http://127.0.0.1:1";

#[tokio::test]
async fn a_closed_client_closes_its_clones_and_its_buffers() {
    let client = Client::new(NOBODY).expect("fitting options");
    let buffer = client.prefetch(BufferOptions::default()).expect("fitting options");
    let waiting = {
        let buffer = client.prefetch(BufferOptions::default()).expect("fitting options");
        tokio::spawn(async move { buffer.next_id().await })
    };
    client.clone().close();
    assert_eq!(client.next_id().await.expect_err("closed").reason(), Reason::ClientClosed);
    assert_eq!(buffer.next_id().await.expect_err("closed").reason(), Reason::ClientClosed);
    assert_eq!(waiting.await.expect("a task").expect_err("closed").reason(), Reason::ClientClosed);
    assert!(buffer.next_id_now().is_none());
}

#[tokio::test]
async fn counts_out_of_range_are_refused_without_a_call() {
    let client = Client::new(NOBODY).expect("fitting options");
    let buffer = client.prefetch(BufferOptions::default()).expect("fitting options");
    for count in [0, snowlane::COUNT_MAX + 1] {
        for error in [
            client.next_ids(count).await.expect_err("out of range"),
            buffer.next_ids(count).await.expect_err("out of range"),
            client.sequence("orders").reserve(count).await.expect_err("out of range"),
        ] {
            assert_eq!(error.reason(), Reason::CountOutOfRange);
        }
    }
    assert!(client.stream(0).is_err() && client.stream(1_000_000_001).is_err());
}
