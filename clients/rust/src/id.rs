use crate::error::{Code, Error, Reason};
use std::{fmt, num::NonZeroU64, str::FromStr};

/// The highest ID: 2^63 - 1.
pub const MAX_ID: u64 = i64::MAX as u64;

const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BASE58_WIDTH: usize = 11;
const DECIMAL_MAX: usize = 19;

/// An ID: 0 to 2^63 - 1. Its text is decimal, and so it is a string in JSON (feature `serde`).
///
/// ```
/// let id: snowlane::Id = "1900000000000000005".parse()?;
/// assert_eq!(id.to_base58(), "5QoSRAifXhW");
/// assert_eq!(snowlane::Id::from_base58("5QoSRAifXhW")?, id);
/// assert_eq!(id.get(), 1_900_000_000_000_000_005);
/// # Ok::<(), snowlane::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(u64);

impl Id {
    /// Fails with MALFORMED_ID for a number above 2^63 - 1.
    pub fn new(number: u64) -> Result<Self, Error> {
        if number <= MAX_ID {
            return Ok(Self(number));
        }
        let message = format!("The number {number} is not an ID: an ID is from 0 to 2^63 - 1.");
        Err(Error::new(Reason::MalformedId, Code::InvalidArgument, message).with("id", number))
    }

    /// An ID that was checked already.
    pub(crate) fn known(number: u64) -> Self {
        debug_assert!(NonZeroU64::new(number).is_some() && number <= MAX_ID);
        Self(number)
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The number, for a column of type BIGINT.
    pub fn to_i64(self) -> i64 {
        self.0.cast_signed()
    }

    /// 11 characters, which sort as the IDs do.
    pub fn to_base58(self) -> String {
        let mut text = [ALPHABET[0]; BASE58_WIDTH];
        let mut left = self.0;
        for place in text.iter_mut().rev() {
            *place = ALPHABET[(left % 58) as usize];
            left /= 58;
        }
        text.iter().map(|&character| char::from(character)).collect()
    }

    /// Fails with MALFORMED_TEXT for anything but the one base 58 text of an ID.
    pub fn from_base58(text: &str) -> Result<Self, Error> {
        let mut number = 0u128;
        for place in 0..BASE58_WIDTH {
            let &character = text.as_bytes().get(place).ok_or_else(|| malformed("base58", "too_short", place))?;
            let digit = ALPHABET.iter().position(|&one| one == character);
            number = number * 58 + digit.ok_or_else(|| malformed("base58", "character", place))? as u128;
        }
        if text.len() > BASE58_WIDTH {
            return Err(malformed("base58", "too_long", BASE58_WIDTH));
        }
        match u64::try_from(number) {
            Ok(number) if number <= MAX_ID => Ok(Self(number)),
            _ => Err(malformed("base58", "out_of_range", 0)),
        }
    }
}

impl FromStr for Id {
    type Err = Error;

    /// Fails with MALFORMED_TEXT for anything but the one decimal text of an ID.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut number = 0u64;
        for (place, character) in text.bytes().enumerate() {
            if place == DECIMAL_MAX {
                return Err(malformed("decimal", "too_long", place));
            }
            if !character.is_ascii_digit() {
                return Err(malformed("decimal", "character", place));
            }
            number = number * 10 + u64::from(character - b'0');
        }
        match text.as_bytes() {
            [] => Err(malformed("decimal", "too_short", 0)),
            [b'0', _, ..] => Err(malformed("decimal", "leading_zero", 0)),
            _ if number > MAX_ID => Err(malformed("decimal", "out_of_range", 0)),
            _ => Ok(Self(number)),
        }
    }
}

fn malformed(form: &str, why: &str, position: usize) -> Error {
    let message = format!("The text is not an ID in the form {form}: {why} at position {position}.");
    Error::new(Reason::MalformedText, Code::InvalidArgument, message)
        .with("form", form)
        .with("reason", why)
        .with("position", position)
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.0)
    }
}

impl TryFrom<u64> for Id {
    type Error = Error;

    fn try_from(number: u64) -> Result<Self, Error> {
        Self::new(number)
    }
}

impl From<Id> for u64 {
    fn from(id: Id) -> Self {
        id.0
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Id {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
