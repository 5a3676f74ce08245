//! The class of a communicator, by the names of the field.

/// `single-rank`, `nvlink-only`, `hca-only` or `mixed`, from the size of a communicator and the nodes it spans.
///
/// `None` where either is 0, which means that the dump doesn't say.
pub(super) const fn communicator_type(n_ranks: u32, nnodes: u32) -> Option<&'static str> {
    match (n_ranks, nnodes) {
        (0, _) => None,
        (1, _) => Some("single-rank"),
        (_, 0) => None,
        (_, 1) => Some("nvlink-only"),
        (ranks, nodes) if ranks == nodes => Some("hca-only"),
        _ => Some("mixed"),
    }
}

#[cfg(test)]
mod tests {
    use super::communicator_type;

    #[test]
    fn names_follow_size_and_nodes() {
        assert_eq!(communicator_type(1, 1), Some("single-rank"));
        assert_eq!(communicator_type(8, 1), Some("nvlink-only"));
        assert_eq!(communicator_type(4, 4), Some("hca-only"));
        assert_eq!(communicator_type(16, 2), Some("mixed"));
    }

    #[test]
    fn what_the_dump_does_not_say_is_not_guessed() {
        assert_eq!(communicator_type(0, 1), None);
        assert_eq!(communicator_type(8, 0), None);
        assert_eq!(communicator_type(1, 0), Some("single-rank"));
    }
}
