//! The values of a row. SQLite keeps whatever was put into a column, so each is asked what it is.

use std::borrow::Cow;
use std::cell::Cell;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::names::OpNames;

/// Why a row gives none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// What it can't be without is null.
    Missing,
    /// What it can't be without is no whole number.
    Odd,
}

/// The values of a row, taken one after the other in the order of the columns.
pub(crate) struct Cells<'a> {
    row: &'a Row<'a>,
    names: &'a OpNames,
    /// The host that all rows of the database belong to, where it names one.
    host_of_file: Option<&'a str>,
    next: Cell<usize>,
    source: Cell<Option<i64>>,
    /// Values that aren't of their column's type, left out.
    odd: Cell<u64>,
    stamp: Cell<Option<i64>>,
}

impl<'a> Cells<'a> {
    /// The first value is the row's number.
    pub(super) fn new(row: &'a Row<'a>, names: &'a OpNames, host_of_file: Option<&'a str>) -> Self {
        Self {
            row,
            names,
            host_of_file,
            next: Cell::new(1),
            source: Cell::new(None),
            odd: Cell::new(0),
            stamp: Cell::new(None),
        }
    }

    pub(super) fn odd_values(&self) -> u64 {
        self.odd.get()
    }

    /// The moment of the row, if it has one.
    pub(super) fn moment_ns(&self) -> Option<i64> {
        self.stamp.get()
    }

    fn value(&self) -> ValueRef<'a> {
        let place = self.next.get();
        self.next.set(place + 1);
        // There are as many columns as the statement asked for.
        self.row.get_ref(place).unwrap_or(ValueRef::Null)
    }

    fn oddly<T>(&self) -> Option<T> {
        self.odd.set(self.odd.get() + 1);
        None
    }

    /// A whole number; null where the value is none.
    pub(crate) fn integer(&self) -> Result<Option<i64>, Refused> {
        let value = self.value();
        Ok(match whole(value) {
            Whole::Number(n) => Some(n),
            Whole::Nothing => None,
            Whole::Odd => self.oddly(),
        })
    }

    /// A moment or a length of which 0 means that it isn't known.
    pub(crate) fn known(&self) -> Result<Option<i64>, Refused> {
        Ok(self.integer()?.filter(|&n| n != 0))
    }

    /// A whole number without which the row says nothing.
    pub(crate) fn required(&self) -> Result<i64, Refused> {
        match whole(self.value()) {
            Whole::Number(n) => Ok(n),
            Whole::Nothing => Err(Refused::Missing),
            Whole::Odd => Err(Refused::Odd),
        }
    }

    /// The moment of an event, without which it says nothing.
    pub(crate) fn stamp(&self) -> Result<i64, Refused> {
        let ns = self.required()?;
        self.stamp.set(Some(ns));
        Ok(ns)
    }

    /// A whole number or null, and nothing else: SQLite compares a text with a number by its type and not by what it spells.
    pub(crate) fn measure(&self) -> Result<Option<i64>, Refused> {
        match self.value() {
            ValueRef::Null => Ok(None),
            ValueRef::Text(_) => Err(Refused::Odd),
            value => match whole(value) {
                Whole::Number(n) => Ok(Some(n)),
                Whole::Nothing | Whole::Odd => Err(Refused::Odd),
            },
        }
    }

    /// The same for a moment.
    pub(crate) fn moment(&self) -> Result<Option<i64>, Refused> {
        let ns = self.measure()?;
        self.stamp.set(ns);
        Ok(ns)
    }

    /// A number; null where the value is none.
    pub(crate) fn real(&self) -> Result<Option<f64>, Refused> {
        Ok(match self.value() {
            ValueRef::Integer(n) => Some(n as f64),
            ValueRef::Real(x) if x.is_finite() => Some(x),
            ValueRef::Null => None,
            _ => self.oddly(),
        })
    }

    /// A text; numbers as SQLite writes them.
    pub(crate) fn text(&self) -> Result<Option<Cow<'a, str>>, Refused> {
        Ok(match self.value() {
            ValueRef::Text(text) => Some(String::from_utf8_lossy(text)),
            ValueRef::Integer(n) => Some(Cow::Owned(n.to_string())),
            ValueRef::Real(x) => Some(Cow::Owned(x.to_string())),
            ValueRef::Null => None,
            ValueRef::Blob(_) => self.oddly(),
        })
    }

    /// The host: the row's own, else the only one of the database.
    pub(crate) fn host(&self) -> Result<Option<Cow<'a, str>>, Refused> {
        let own = self.text()?.filter(|host| !host.is_empty());
        Ok(own.or(self.host_of_file.map(Cow::Borrowed)))
    }

    /// The number in an id: all of it in old files, what stands behind the last colon in `<host>:<n>`.
    pub(crate) fn number_of_id(&self) -> Result<Option<i64>, Refused> {
        Ok(match self.value() {
            ValueRef::Text(text) => {
                let text = String::from_utf8_lossy(text);
                let number = text.rsplit_once(':').map_or(&*text, |(_, number)| number);
                number.parse().ok()
            }
            value => match whole(value) {
                Whole::Number(n) => Some(n),
                Whole::Nothing => None,
                Whole::Odd => self.oddly(),
            },
        })
    }

    /// The code of a source, for the names that follow.
    pub(crate) fn source_code(&self) -> Result<Option<i64>, Refused> {
        let code = self.integer()?;
        self.source.set(code);
        Ok(code)
    }

    /// The name of the source whose code came before; the value is that code again.
    pub(crate) fn source_name(&self) -> Result<Option<Cow<'a, str>>, Refused> {
        let code = whole(self.value());
        Ok(match code {
            Whole::Number(code) => self.names.source(code).map(Cow::Borrowed),
            _ => None,
        })
    }

    /// The name of an operation, of the source whose code came before.
    pub(crate) fn op_name(&self) -> Result<Option<Cow<'a, str>>, Refused> {
        let code = whole(self.value());
        Ok(match (self.source.get(), code) {
            (Some(source), Whole::Number(op)) => self.names.op(source, op).map(Cow::Borrowed),
            _ => None,
        })
    }
}

enum Whole {
    Number(i64),
    Nothing,
    Odd,
}

/// Whole numbers, also written as `5.0` or `'5'`; an empty text is how some agents write that they don't know.
fn whole(value: ValueRef<'_>) -> Whole {
    match value {
        ValueRef::Integer(n) => Whole::Number(n),
        // 2^63 is the first number that i64 doesn't hold.
        ValueRef::Real(x) if x.fract() == 0.0 && x.abs() < 9_223_372_036_854_775_808.0 => {
            Whole::Number(x as i64)
        }
        ValueRef::Text(b"") | ValueRef::Null => Whole::Nothing,
        ValueRef::Text(text) => match std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()) {
            Some(n) => Whole::Number(n),
            None => Whole::Odd,
        },
        ValueRef::Real(_) | ValueRef::Blob(_) => Whole::Odd,
    }
}
