//! The columns that a record's context fills, which the tables of communicators' records have in common.

/// Pushes a context, all but its stamp, and the file that it is from.
macro_rules! push_context {
    ($columns:ident, $context:ident, $source_file:ident) => {
        $columns.id.push(&$context.id);
        $columns.comm_name.push($context.comm_name.as_deref());
        $columns
            .rank
            .push($crate::table::column::to_i32($context.rank));
        $columns
            .n_ranks
            .push($crate::table::column::to_i32($context.n_ranks));
        $columns
            .nnodes
            .push($crate::table::column::to_i32($context.nnodes));
        $columns
            .comm_type
            .push($crate::table::communicator_type::communicator_type(
                $context.n_ranks,
                $context.nnodes,
            ));
        $columns
            .inspector_output_format_version
            .push($context.format_version.as_deref());
        $columns.git_rev.push($context.git_rev.as_deref());
        $columns
            .rec_mechanism
            .push($context.rec_mechanism.as_deref());
        $columns.hostname.push(&$context.hostname);
        $columns.pid.push($context.pid);
        $columns.gpu_uuid.push($context.gpu_uuid.as_deref());
        $columns.tags.push($context.tags.as_deref());
        $columns.source_file.push($source_file);
    };
}
pub(super) use push_context;
