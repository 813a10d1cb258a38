//! The lines of docs/internals/client-contract.md around the client: what `npm run conformance` starts.
use serde_json::{Map, Value, json};
use snowlane::{Buffer, BufferOptions, Client, ClientOptions, Error, Id};
use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead, Write},
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

const LEFT_OUT: [&str; 7] =
    ["wrong-certificates", "names", "streams-apart", "two-regions", "fresh-first", "stepped-clock", "read-alike"];
const GRACE: Duration = Duration::from_secs(5);

type Keys<'a> = HashMap<&'a str, &'a str>;

/// A client that is open, with its buffer if it has one.
struct Session {
    client: Client,
    buffer: Option<Buffer>,
}

impl Session {
    fn open(keys: &Keys) -> Self {
        let client = Client::with_options(options(keys)).expect("fitting options");
        let max_age = millis(keys, "max_age_ms", 5_000);
        let buffer_options = BufferOptions { max_age, ..BufferOptions::default() };
        let has_buffer = keys.get("buffer") == Some(&"1");
        let buffer = has_buffer.then(|| client.prefetch(buffer_options).expect("fitting options"));
        Self { client, buffer }
    }

    async fn next_id(&self) -> Result<Id, Error> {
        match &self.buffer {
            Some(buffer) => buffer.next_id().await,
            None => self.client.next_id().await,
        }
    }
}

fn number(keys: &Keys, key: &str, otherwise: u64) -> u64 {
    keys.get(key).map_or(otherwise, |text| text.parse::<f64>().expect("a number") as u64)
}

fn millis(keys: &Keys, key: &str, otherwise: u64) -> Duration {
    Duration::from_millis(number(keys, key, otherwise))
}

fn options(keys: &Keys) -> ClientOptions {
    let options = ClientOptions::new(keys["endpoints"].split(','))
        .timeout(millis(keys, "timeout_ms", 5_000))
        .attempt_timeout(millis(keys, "attempt_timeout_ms", 2_000))
        .retry_max(number(keys, "retry_max", 3) as u32);
    match keys.get("token") {
        Some(&token) => {
            let token = token.to_owned();
            options.token(move || token.clone())
        }
        None => options,
    }
}

fn shown(error: &Error) -> Map<String, Value> {
    let code = format!("{:?}", error.code());
    let mut spelled = String::new();
    for letter in code.chars() {
        if letter.is_ascii_uppercase() && !spelled.is_empty() {
            spelled.push('_');
        }
        spelled.push(letter.to_ascii_uppercase());
    }
    let value = json!({
        "reason": error.reason().as_str(),
        "code": spelled,
        "metadata": error.metadata(),
        "retryAfterMs": error.delay().map(|delay| delay.as_millis() as u64),
        "text": error.to_string(),
    });
    value.as_object().cloned().unwrap_or_default()
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

async fn call(session: &Session, count: u64) -> Value {
    let mut results = Vec::new();
    for _ in 0..count {
        let started = Instant::now();
        let mut result = match session.next_id().await {
            Ok(id) => json!({ "id": id }).as_object().cloned().unwrap_or_default(),
            Err(error) => shown(&error),
        };
        result.insert("durationMs".to_owned(), json!(ms(started.elapsed())));
        results.push(result);
    }
    json!({ "results": results })
}

/// Takes IDs at an even rate. A call that fails is counted, and not made again.
async fn take(session: &Session, keys: &Keys<'_>) -> Value {
    let (per_second, seconds) = (number(keys, "per_second", 1), number(keys, "seconds", 1));
    let mut out = File::create(keys["out"]).expect("a file");
    let (started, mut first_ms, mut wait_max) = (Instant::now(), -1.0, Duration::ZERO);
    let (mut count, mut reasons) = (0u64, HashMap::<&str, u64>::new());
    for index in 0..per_second * seconds {
        if started.elapsed() > Duration::from_secs(seconds) + GRACE {
            break;
        }
        let due = started + Duration::from_secs(1).mul_f64(index as f64 / per_second as f64);
        tokio::time::sleep_until(due.into()).await;
        let called = Instant::now();
        match session.next_id().await {
            Ok(id) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
                out.write_all(&id.get().to_be_bytes()).expect("a file");
                out.write_all(&now.to_be_bytes()).expect("a file");
                count += 1;
                first_ms = if first_ms < 0.0 { ms(started.elapsed()) } else { first_ms };
            }
            Err(error) => *reasons.entry(error.reason().as_str()).or_default() += 1,
        }
        wait_max = wait_max.max(called.elapsed());
    }
    let failures: u64 = reasons.values().sum();
    json!({
        "count": count, "failures": failures, "reasons": reasons, "waitMaxMs": ms(wait_max), "firstMs": first_ms,
    })
}

/// Makes many clients, each with a buffer that hands out IDs at an even rate once all have had their first one, and
/// counts the calls that fail.
async fn fleet(keys: &Keys<'_>) -> Value {
    let (per_second, seconds) = (number(keys, "per_second", 1), number(keys, "seconds", 1));
    let client_count = number(keys, "clients", 1);
    let all_begun = Arc::new(tokio::sync::Barrier::new(client_count as usize));
    // This many clients wait for their first ID at a time.
    let starting = Arc::new(tokio::sync::Semaphore::new(50));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..client_count {
        let client = Client::with_options(options(keys)).expect("fitting options");
        let (all_begun, starting) = (all_begun.clone(), starting.clone());
        tasks.spawn(async move {
            let buffer = client.prefetch(BufferOptions::default()).expect("fitting options");
            let place = starting.acquire().await;
            let mut outcomes = vec![buffer.next_id().await.map_err(|error| error.reason().as_str())];
            drop(place);
            all_begun.wait().await;
            let started = Instant::now();
            for index in 0..per_second * seconds {
                let due = started + Duration::from_secs(1).mul_f64(index as f64 / per_second as f64);
                tokio::time::sleep_until(due.into()).await;
                outcomes.push(buffer.next_id().await.map_err(|error| error.reason().as_str()));
            }
            outcomes
        });
    }
    let outcomes: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    let mut reasons = HashMap::<&str, u64>::new();
    for reason in outcomes.iter().filter_map(|outcome| outcome.err()) {
        *reasons.entry(reason).or_default() += 1;
    }
    let failures: u64 = reasons.values().sum();
    json!({ "count": outcomes.len() as u64 - failures, "failures": failures, "reasons": reasons })
}

/// Takes IDs by a stream. A failure is counted, and the stream goes on after 10 ms, for at most 60 s without a success.
async fn issue(keys: &Keys<'_>) -> Value {
    assert_eq!(keys["mode"], "stream", "this program issues by a stream alone");
    let client = Client::with_options(options(keys)).expect("fitting options");
    let mut stream = client.stream(number(keys, "count", 1)).expect("a fitting count");
    let mut out = File::create(keys["out"]).expect("a file");
    let (mut count, mut reasons, mut success) = (0u64, HashMap::<&str, u64>::new(), Instant::now());
    while success.elapsed() < Duration::from_secs(60) {
        match stream.next_chunk().await {
            Ok(None) => break,
            Ok(Some(ids)) => {
                for id in &ids {
                    out.write_all(&id.get().to_be_bytes()).expect("a file");
                }
                count += ids.len() as u64;
                success = Instant::now();
            }
            Err(error) => {
                *reasons.entry(error.reason().as_str()).or_default() += 1;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
    let failures: u64 = reasons.values().sum();
    json!({ "count": count, "failures": failures, "reasons": reasons })
}

#[tokio::main]
async fn main() {
    let mut sessions = HashMap::<String, Session>::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let mut words = line.split(' ');
        let command = words.next().unwrap_or_default();
        let keys: Keys = words.filter_map(|pair| pair.split_once('=')).collect();
        let name = keys.get("client").copied().unwrap_or_default();
        let result = match command {
            "hello" => json!({ "language": "rust", "leavesOut": LEFT_OUT }),
            "open" => {
                sessions.insert(name.to_owned(), Session::open(&keys));
                json!({})
            }
            "call" => call(&sessions[name], number(&keys, "count", 1)).await,
            "take" => take(&sessions[name], &keys).await,
            "fleet" => fleet(&keys).await,
            "issue" => issue(&keys).await,
            "stats" => {
                let stats = sessions[name].buffer.as_ref().expect("a buffer").stats();
                json!({
                    "handedOut": stats.handed_out, "reserved": stats.reserved, "dropped": stats.dropped,
                    "waits": stats.waits, "stock": stats.stock,
                })
            }
            "close" => {
                sessions.remove(name);
                json!({})
            }
            other => panic!("There is no command {other}."),
        };
        println!("{result}");
        std::io::stdout().flush().expect("standard output");
    }
}
