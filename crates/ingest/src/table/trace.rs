//! What the tables of eBPF traces have in common, and the macro that makes their columns out of one list: what a column is called, how
//! its value is taken, and what SQLite's column is called.

use std::borrow::Cow;

use super::column::{Columns, Int64, OptionalFloat64, OptionalInt64};
use super::strings::{OptionalText, Text};
use crate::ebpf::{Cells, Refused};

/// The columns of a table that is made from rows of SQLite.
pub(crate) trait TraceColumns: Columns {
    /// What its rows are called in the account of the input.
    const KIND: &'static str;
    /// The table in SQLite.
    const FROM: &'static str;
    /// For each column its name in SQLite, or several that it goes by, with `|` between.
    const SOURCES: &'static [&'static str];

    /// Adds a row, or nothing.
    fn push(
        &mut self,
        cells: &Cells<'_>,
        source_file: &str,
        source_row: i64,
    ) -> Result<(), Refused>;
}

/// A column that takes values of a type.
pub(super) trait Takes<T> {
    fn take(&mut self, value: T);
}

impl Takes<i64> for Int64 {
    fn take(&mut self, value: i64) {
        self.push(value);
    }
}

impl Takes<Option<i64>> for OptionalInt64 {
    fn take(&mut self, value: Option<i64>) {
        self.push(value);
    }
}

impl Takes<Option<f64>> for OptionalFloat64 {
    fn take(&mut self, value: Option<f64>) {
        self.push(value);
    }
}

impl Takes<Option<Cow<'_, str>>> for OptionalText {
    fn take(&mut self, value: Option<Cow<'_, str>>) {
        self.push(value.as_deref());
    }
}

impl Takes<&str> for Text {
    fn take(&mut self, value: &str) {
        self.push(value);
    }
}

/// The column that holds what a way of taking gives.
macro_rules! column_of {
    (required) => {
        $crate::table::column::Int64
    };
    (stamp) => {
        $crate::table::column::Int64
    };
    (real) => {
        $crate::table::column::OptionalFloat64
    };
    (host) => {
        $crate::table::strings::OptionalText
    };
    (text) => {
        $crate::table::strings::OptionalText
    };
    (source_name) => {
        $crate::table::strings::OptionalText
    };
    (op_name) => {
        $crate::table::strings::OptionalText
    };
    ($any:ident) => {
        $crate::table::column::OptionalInt64
    };
}
pub(super) use column_of;

/// Declares the columns of a trace's table: its own name, how a value is taken (a method of [`Cells`]), SQLite's name.
macro_rules! trace_columns {
    ($(#[$doc:meta])* $name:ident, $table:expr, $kind:literal, from $from:literal, {
        $first:ident: $first_how:ident $first_source:literal,
        $($column:ident: $how:ident $source:literal),* $(,)?
    }) => {
        $crate::table::column::columns! {
            $(#[$doc])*
            $name, $table, {
                $first: $crate::table::trace::column_of!($first_how),
                $($column: $crate::table::trace::column_of!($how),)*
                source_file: $crate::table::strings::Text,
                source_row: $crate::table::column::Int64,
            }
        }

        impl $crate::table::trace::TraceColumns for $name {
            const KIND: &'static str = $kind;
            const FROM: &'static str = $from;
            const SOURCES: &'static [&'static str] = &[$first_source, $($source),*];

            fn push(
                &mut self,
                cells: &$crate::ebpf::Cells<'_>,
                source_file: &str,
                source_row: i64,
            ) -> Result<(), $crate::ebpf::Refused> {
                use $crate::table::trace::Takes;
                // All values first: a row that is refused leaves nothing in any column.
                let $first = cells.$first_how()?;
                $(let $column = cells.$how()?;)*
                self.$first.take($first);
                $(self.$column.take($column);)*
                self.source_file.take(source_file);
                self.source_row.take(source_row);
                Ok(())
            }
        }
    };
}
pub(super) use trace_columns;
