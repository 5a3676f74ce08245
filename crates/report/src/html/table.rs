//! The one table of the page: caption, column scopes, numbers that sort as numbers, a bounded number of rows.

use askama::Template;
use nccl_report_analyze::units::{BusBandwidth, ExecTime, MessageSize, Timestamp};

use super::kept::Kept;
use super::{quantity, text};

/// A table with its rows.
#[derive(Template)]
#[template(path = "table.html")]
pub(super) struct Table {
    id: &'static str,
    caption: String,
    columns: Vec<Column>,
    rows: Vec<Row>,
    note: Option<String>,
}

/// A column: its name, and the unit of its numbers where all have the same.
pub(super) struct Column {
    name: &'static str,
    unit: &'static str,
    numeric: bool,
}

/// A row: the first cell names it.
pub(super) struct Row {
    cells: Vec<Cell>,
}

/// A cell.
#[derive(Default)]
pub(super) struct Cell {
    text: String,
    /// What to sort by, where the text isn't it.
    value: Option<String>,
    /// More of it, for who points at it.
    title: Option<String>,
    /// Width of a bar behind the number, in percent.
    bar: Option<String>,
    links: Vec<Link>,
    numeric: bool,
}

/// A link to another part of the page.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) anchor: String,
    pub(super) text: String,
}

impl Column {
    /// A column of text.
    pub(super) const fn text(name: &'static str) -> Self {
        Self {
            name,
            unit: "",
            numeric: false,
        }
    }

    /// A column of numbers that carry their unit.
    pub(super) const fn number(name: &'static str) -> Self {
        Self {
            name,
            unit: "",
            numeric: true,
        }
    }

    /// A column of bandwidths.
    pub(super) const fn gbs(name: &'static str) -> Self {
        Self {
            name,
            unit: "GB/s",
            numeric: true,
        }
    }
}

impl Row {
    pub(super) fn of(cells: impl IntoIterator<Item = Cell>) -> Self {
        Self {
            cells: cells.into_iter().collect(),
        }
    }
}

impl Cell {
    /// Whether it has to wrap.
    fn long(&self) -> bool {
        self.text.chars().count() > 34
    }

    /// A name from the input.
    pub(super) fn name(of: &str) -> Self {
        Self {
            text: text::name(of),
            ..Self::default()
        }
    }

    /// A sentence or path from the input.
    pub(super) fn sentence(of: &str) -> Self {
        Self {
            text: text::sentence(of),
            ..Self::default()
        }
    }

    /// Links to other parts of the page.
    pub(super) fn links(links: &[Link]) -> Self {
        Self {
            links: links.to_vec(),
            ..Self::default()
        }
    }

    /// What isn't known.
    pub(super) fn none() -> Self {
        Self {
            text: quantity::NONE.to_owned(),
            numeric: true,
            ..Self::default()
        }
    }

    fn number(text: String, value: f64) -> Self {
        Self {
            text,
            value: value.is_finite().then(|| value.to_string()),
            numeric: true,
            ..Self::default()
        }
    }

    /// A number that isn't counted but names something: a rank, a process id.
    pub(super) fn label(of: impl ToString) -> Self {
        Self {
            text: of.to_string(),
            numeric: true,
            ..Self::default()
        }
    }

    pub(super) fn count(of: u64) -> Self {
        Self::number(quantity::count(of), of as f64)
    }

    pub(super) fn duration(of: ExecTime) -> Self {
        Self::number(quantity::duration(of), of.as_micros())
    }

    pub(super) fn gbs(of: BusBandwidth) -> Self {
        Self::number(quantity::significant(of.as_gb_per_s()), of.as_gb_per_s())
    }

    pub(super) fn size(of: MessageSize) -> Self {
        let bytes = of.as_bytes();
        Self {
            title: (bytes >= 1_024).then(|| format!("{} bytes", quantity::count(bytes))),
            ..Self::number(quantity::size(bytes), bytes as f64)
        }
    }

    pub(super) fn bytes(of: u64) -> Self {
        Self::number(quantity::size(of), of as f64)
    }

    pub(super) fn moment(of: Timestamp) -> Self {
        Self::number(quantity::moment(of), of.as_unix_micros() as f64)
    }

    pub(super) fn share(of: f64) -> Self {
        Self::number(quantity::percent(of), of)
    }

    /// A share with a bar as long.
    pub(super) fn bar(of: f64) -> Self {
        let width = of
            .is_finite()
            .then(|| format!("{:.1}", of.clamp(0.0, 1.0) * 100.0));
        Self {
            bar: width,
            ..Self::share(of)
        }
    }

    /// The cell of a value, or of its absence.
    pub(super) fn maybe<T>(of: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        of.map_or_else(Self::none, cell)
    }

    pub(super) fn with_title(self, title: String) -> Self {
        Self {
            title: Some(title),
            ..self
        }
    }

    /// The number, followed by what it belongs to.
    pub(super) fn of_whom(mut self, whom: &str) -> Self {
        self.text.push_str(" · ");
        self.text.push_str(&text::name(whom));
        self
    }
}

impl Table {
    /// A table of all rows.
    pub(super) fn new(
        id: &'static str,
        caption: impl Into<String>,
        columns: impl IntoIterator<Item = Column>,
        rows: Vec<Row>,
    ) -> Self {
        Self {
            id,
            caption: caption.into(),
            columns: columns.into_iter().collect(),
            rows,
            note: None,
        }
    }

    /// Says below the table that rows are missing, where some are.
    pub(super) fn noting(self, kept: &Kept<impl Sized>) -> Self {
        Self {
            note: kept.note(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_numbers_sort() {
        let rows = vec![Row::of([
            Cell::name("<b>\"'&"),
            Cell::duration(ExecTime::from_micros(1_234.5)),
            Cell::none(),
        ])];
        let columns = [
            Column::text("name"),
            Column::number("time"),
            Column::gbs("busbw"),
        ];
        let html = Table::new("t", "A <caption>", columns, rows)
            .render()
            .expect("renders");
        assert!(
            !html.contains("<b>") && !html.contains("A <caption>"),
            "{html}"
        );
        assert!(html.contains("data-value=\"1234.5\""), "{html}");
        assert!(
            html.contains("scope=\"row\"") && html.contains("scope=\"col\""),
            "{html}"
        );
    }
}
