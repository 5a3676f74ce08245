//! What was meant by a word that isn't known.

/// The known word that is closest, if one is close: at most a third of its letters differ.
pub(super) fn meant<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = word.to_lowercase().replace(['-', ' '], "_");
    known
        .iter()
        .map(|k| (distance(&lower, &k.to_lowercase().replace('-', "_")), *k))
        .filter(|(d, k)| *d <= k.chars().count().div_ceil(3))
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// Insertions, deletions and replacements from one word to the other (Levenshtein, 1966).
fn distance(a: &str, b: &str) -> usize {
    // No key is longer; a longer word is a mistake of another kind.
    const MOST: usize = 64;
    let (a, b): (Vec<char>, Vec<char>) = (
        a.chars().take(MOST).collect(),
        b.chars().take(MOST).collect(),
    );
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }

    #[test]
    fn close_words_are_guessed_and_others_not() {
        let known = ["min_gbs", "max_times_baseline", "late_rank"];
        assert_eq!(meant("min_gb", &known), Some("min_gbs"));
        assert_eq!(
            meant("max-times-baselin", &known),
            Some("max_times_baseline")
        );
        assert_eq!(meant("Late Rank", &known), Some("late_rank"));
        assert_eq!(meant("colour", &known), None);
    }
}
