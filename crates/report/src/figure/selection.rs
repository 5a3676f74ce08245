//! What to draw when there is too much of it.

/// Keeps the `most` items of the largest weight, in their old order; among equals the earlier ones.
pub(crate) fn keep_largest<T>(items: Vec<(f64, T)>, most: usize) -> Vec<T> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&a, &b| items[b].0.total_cmp(&items[a].0).then(a.cmp(&b)));
    order.truncate(most);
    order.sort_unstable();
    items
        .into_iter()
        .enumerate()
        .filter(|(place, _)| order.binary_search(place).is_ok())
        .map(|(_, (_, item))| item)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_in_their_old_order() {
        let items = || vec![(1.0, 'a'), (1.0, 'b'), (9.0, 'c'), (0.0, 'd'), (1.0, 'e')];
        assert_eq!(keep_largest(items(), 3), ['a', 'b', 'c']);
        assert_eq!(keep_largest(items(), 1), ['c']);
        assert_eq!(keep_largest(items(), 9).len(), 5);
        assert!(keep_largest(items(), 0).is_empty());
    }
}
