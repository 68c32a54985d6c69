//! Dates and times, as each library reads them.

use super::Dialect;
use super::scalar::{Fault, Found};

/// Reads a date, a time or both at the start of `text`, which begins like one.
pub(super) fn read(text: &str, dialect: Dialect) -> Result<Found<()>, Fault> {
    let bytes = text.as_bytes();
    let mut reader = Reader { bytes, at: 0, dialect, unsure: None };
    if bytes.get(2) == Some(&b':') {
        reader.time()?;
    } else {
        reader.date()?;
        if reader.separator() {
            reader.at += 1;
            reader.time()?;
            reader.offset()?;
        } else if dialect == Dialect::GoTomlV1 && matches!(bytes.get(reader.at), Some(b) if *b != b' ') {
            return Err("a date can only be followed by T and a time".into());
        }
    }
    Ok(Found { value: (), len: reader.at, unsure: reader.unsure })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    dialect: Dialect,
    unsure: Option<Fault>,
}

impl Reader<'_> {
    /// A number of exactly `digits` digits within `min..=max`.
    fn number(&mut self, digits: usize, min: u32, max: u32, what: &str) -> Result<u32, Fault> {
        let mut number = 0;
        for _ in 0..digits {
            match self.bytes.get(self.at) {
                Some(b) if b.is_ascii_digit() => number = number * 10 + u32::from(b - b'0'),
                _ => return Err(format!("the {what} needs {digits} digits")),
            }
            self.at += 1;
        }
        if (min..=max).contains(&number) { Ok(number) } else { Err(format!("there is no {what} {number}")) }
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<(), Fault> {
        if self.bytes.get(self.at) != Some(&byte) {
            return Err(format!("expected `{}` after the {what}", byte as char));
        }
        self.at += 1;
        Ok(())
    }

    fn date(&mut self) -> Result<(), Fault> {
        let year = self.number(4, 0, 9999, "year")?;
        self.expect(b'-', "year")?;
        let month = self.number(2, 1, 12, "month")?;
        self.expect(b'-', "month")?;
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        self.number(2, 1, days, "day")?;
        Ok(())
    }

    /// Whether a time follows the date.
    fn separator(&self) -> bool {
        let digit = |at: usize| self.bytes.get(at).is_some_and(u8::is_ascii_digit);
        match (self.bytes.get(self.at), self.dialect) {
            (Some(b'T'), _) | (Some(b't'), Dialect::GoTomlV2) => true,
            (Some(b' '), Dialect::GoTomlV2) => digit(self.at + 1),
            (Some(b' '), Dialect::GoTomlV1) => digit(self.at + 1) && digit(self.at + 2),
            _ => false,
        }
    }

    fn time(&mut self) -> Result<(), Fault> {
        self.number(2, 0, 23, "hour")?;
        self.expect(b':', "hour")?;
        self.number(2, 0, 59, "minute")?;
        if self.dialect == Dialect::GoTomlV2 && self.bytes.get(self.at) != Some(&b':') {
            self.unsure = Some("a time without seconds is new in TOML 1.1".into());
            return Ok(());
        }
        self.expect(b':', "minutes")?;
        let last = if self.dialect == Dialect::GoTomlV2 { 60 } else { 59 };
        self.number(2, 0, last, "second")?;
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            let fraction = self.bytes[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
            if fraction == 0 {
                return Err("a digit must follow the point".into());
            }
            self.at += fraction;
        }
        Ok(())
    }

    fn offset(&mut self) -> Result<(), Fault> {
        match (self.bytes.get(self.at), self.dialect) {
            (Some(b'Z'), _) | (Some(b'z'), Dialect::GoTomlV2) => self.at += 1,
            (Some(b'+' | b'-'), _) => {
                self.at += 1;
                self.number(2, 0, 23, "hour")?;
                self.expect(b':', "hour")?;
                self.number(2, 0, 59, "minute")?;
            }
            _ => {}
        }
        Ok(())
    }
}
