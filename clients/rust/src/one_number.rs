use crate::{
    endpoint::Endpoint,
    error::{Code, Error, Reason},
};
use std::sync::{Mutex, PoisonError};

/// What a number is of, in texts and metadata.
pub(crate) struct Noun {
    key: &'static str,
    name: &'static str,
    items: &'static str,
}

pub(crate) const DEPLOYMENT: Noun = Noun { key: "deployment", name: "deployment", items: "IDs" };
pub(crate) const DATABASE: Noun = Noun { key: "database", name: "database of sequences", items: "values" };

/// Holds all answers to one number: that of the first server that named one.
pub(crate) struct OneNumber {
    noun: Noun,
    /// The only ones that may be; empty: the first that comes.
    allowed: Vec<u32>,
    /// The number, and the URL of the server that named it first.
    first: Mutex<Option<(u32, String)>>,
}

impl OneNumber {
    pub(crate) fn new(noun: Noun, allowed: Vec<u32>) -> Self {
        Self { noun, allowed, first: Mutex::new(None) }
    }

    /// Takes in the number of an answer, before anything else of it is read. 0: it has none. Fails with
    /// DEPLOYMENT_MISMATCH.
    pub(crate) fn admit(&self, endpoint: &Endpoint, number: u32) -> Result<(), Error> {
        if number == 0 || self.allowed.contains(&number) {
            return Ok(());
        }
        if !self.allowed.is_empty() {
            return Err(self.mismatch(endpoint, number, &self.allowed, None));
        }
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let (expected, url) = first.get_or_insert_with(|| (number, endpoint.url.clone()));
        if *expected == number { Ok(()) } else { Err(self.mismatch(endpoint, number, &[*expected], Some(url))) }
    }

    fn mismatch(&self, endpoint: &Endpoint, number: u32, expected: &[u32], first_url: Option<&String>) -> Error {
        let Noun { key, name, items } = self.noun;
        let expected = expected.iter().map(|one| format!("{one:08x}")).collect::<Vec<_>>().join(", ");
        let first = first_url.map(|url| format!(", first at {url}")).unwrap_or_default();
        let text = format!(
            "This server is of another {name} ({number:08x}) than the one in use ({expected}{first}): their {items} can be \
             equal. Correct the endpoints, or restart this process if the change is meant."
        );
        let error = Error::new(Reason::DeploymentMismatch, Code::FailedPrecondition, text)
            .with(key, format!("{number:08x}"))
            .with(&format!("expected_{key}"), expected)
            .of(&endpoint.url);
        first_url.map_or(error.clone(), |url| error.with("endpoint_first", url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ClientOptions;

    #[tokio::test]
    async fn the_first_number_is_the_one_and_another_is_refused_with_both_endpoints() {
        let endpoint = |url| Endpoint::new(url, &ClientOptions::new([url])).expect("an endpoint");
        let (one, two) = (endpoint("http://127.0.0.1:1"), endpoint("http://127.0.0.1:2"));
        let numbers = OneNumber::new(DATABASE, vec![]);
        for number in [0, 0xab, 0, 0xab] {
            assert!(numbers.admit(&one, number).is_ok());
        }
        let error = numbers.admit(&two, 0xcd).expect_err("another number");
        assert_eq!(error.reason(), Reason::DeploymentMismatch);
        let metadata: Vec<_> = error.metadata().iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(
            metadata,
            [("database", "000000cd"), ("endpoint_first", "http://127.0.0.1:1"), ("expected_database", "000000ab")]
        );
        assert!(
            error.to_string().contains("http://127.0.0.1:1") && error.to_string().ends_with("(http://127.0.0.1:2)")
        );
    }

    #[tokio::test]
    async fn listed_numbers_are_the_only_ones() {
        let endpoint = Endpoint::new("http://127.0.0.1:1", &ClientOptions::new(["http://127.0.0.1:1"])).expect("one");
        let numbers = OneNumber::new(DEPLOYMENT, vec![7, 8]);
        assert!([0, 7, 8].iter().all(|&number| numbers.admit(&endpoint, number).is_ok()));
        assert!(numbers.admit(&endpoint, 9).is_err());
    }
}
