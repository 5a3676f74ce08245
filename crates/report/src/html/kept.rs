//! What of a long list is shown: a page stays a page whatever the size of the job.

use std::cmp::Ordering;

use super::quantity;

/// Rows of a table on the page; what is beyond stays in `report.json`.
pub(super) const ROWS: usize = 500;

/// What of a long list is shown.
pub(super) struct Kept<T> {
    /// The items to show, in the order of the list.
    pub(super) items: Vec<T>,
    all: usize,
    /// What the shown ones have most of; `None` when they are simply the first.
    by: Option<&'static str>,
}

impl<T> Kept<T> {
    /// Keeps the [`ROWS`] items that weigh most (`by` names the weight in words), in the order in which they come.
    pub(super) fn heaviest(
        items: impl IntoIterator<Item = T>,
        by: &'static str,
        weight: impl Fn(&T) -> f64,
    ) -> Self {
        let mut items: Vec<(usize, T)> = items.into_iter().enumerate().collect();
        let all = items.len();
        if all > ROWS {
            items.sort_by(|(a, x), (b, y)| match weight(y).total_cmp(&weight(x)) {
                Ordering::Equal => a.cmp(b),
                unequal => unequal,
            });
            items.truncate(ROWS);
            items.sort_by_key(|(index, _)| *index);
        }
        Self {
            items: items.into_iter().map(|(_, item)| item).collect(),
            all,
            by: Some(by),
        }
    }

    /// Keeps the first [`ROWS`] items.
    pub(super) fn first(items: impl IntoIterator<Item = T>) -> Self {
        let mut items: Vec<T> = items.into_iter().collect();
        let all = items.len();
        items.truncate(ROWS);
        Self {
            items,
            all,
            by: None,
        }
    }

    /// Says that items are missing, where some are.
    pub(super) fn note(&self) -> Option<String> {
        (self.all > self.items.len()).then(|| {
            let which = self.by.map_or_else(
                || "the first of them".to_owned(),
                |by| format!("those with the most {by}"),
            );
            format!(
                "{} of {} rows, {which}; the others are in report.json.",
                quantity::count(self.items.len() as u64),
                quantity::count(self.all as u64),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_rows_stay_in_order_and_the_note_says_so() {
        let kept = Kept::heaviest(0..2_000_u32, "time", |n| f64::from(n % 1_000));
        assert_eq!(kept.items.len(), ROWS);
        assert!(kept.items.is_sorted());
        assert!(kept.items.iter().all(|n| n % 1_000 >= 750));
        let note = kept.note().expect("a note");
        assert!(
            note.starts_with("500 of 2,000 rows, those with the most time"),
            "{note}"
        );
        assert_eq!(Kept::heaviest(0..500, "time", |_| 0.0).note(), None);
    }
}
