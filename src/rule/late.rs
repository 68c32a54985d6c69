//! Parts of a rule that most runs never look at: packed until somebody does.

use serde::de::{self, DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::OnceLock;

/// A value that travels as bytes and is unpacked at first use.
#[derive(Clone, Debug)]
pub struct Late<T> {
    packed: Vec<u8>,
    made: OnceLock<T>,
}

impl<T> Late<T> {
    pub fn new(made: T) -> Late<T> {
        Late { packed: Vec::new(), made: OnceLock::from(made) }
    }
}

impl<T: DeserializeOwned + Default> Deref for Late<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // the build script packed it with the same code
        self.made.get_or_init(|| postcard::from_bytes(&self.packed).unwrap_or_default())
    }
}

impl<T: DeserializeOwned + Default + PartialEq> PartialEq for Late<T> {
    fn eq(&self, other: &Late<T>) -> bool {
        **self == **other
    }
}

impl<T: Serialize + DeserializeOwned + Default> Serialize for Late<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = postcard::to_allocvec(&**self).map_err(ser::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de, T> Deserialize<'de> for Late<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Late<T>, D::Error> {
        deserializer.deserialize_bytes(Bytes(PhantomData))
    }
}

struct Bytes<T>(PhantomData<T>);

impl<T> Visitor<'_> for Bytes<T> {
    type Value = Late<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Late<T>, E> {
        Ok(Late { packed: bytes.to_vec(), made: OnceLock::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::Late;

    #[test]
    fn what_was_packed_comes_out_again() {
        let late = Late::new(vec!["a".to_owned(), "b".to_owned()]);
        let bytes = postcard::to_allocvec(&late).unwrap();
        let read: Late<Vec<String>> = postcard::from_bytes(&bytes).unwrap();
        assert!(read.made.get().is_none());
        assert_eq!(*read, ["a", "b"]);
        assert_eq!(postcard::to_allocvec(&read).unwrap(), bytes);
    }
}
