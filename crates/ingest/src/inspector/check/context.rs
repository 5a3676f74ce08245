//! `header` and `metadata`.

use super::number::whole;
use super::rejection::Rejection;
use crate::inspector::parse::{Flat, Number, Parts, RawHeader, RawMetadata, Slot, Text};
use crate::inspector::record::Context;

/// More ranks than any machine has by far; also keeps every rank within 32 bits.
const MAX_RANKS: u64 = 1 << 24;

/// 2200-01-01 UTC, in microseconds.
const MAX_TIMESTAMP: u64 = 7_258_118_400_000_000;

/// A time stamp that can be true.
pub(in crate::inspector) fn timestamp(micros: u64) -> Option<i64> {
    (micros <= MAX_TIMESTAMP).then_some(micros as i64)
}

/// The context that the line itself carries, nested or flat; `None` when it carries none.
pub(in crate::inspector) fn context<'a>(
    parts: &mut Parts<'a>,
) -> Option<Result<Context<'a>, Rejection>> {
    let flat = parts.flat.as_deref_mut();
    let told_flat = flat
        .as_ref()
        .is_some_and(|f| f.header.id != Text::Absent || f.metadata.hostname != Text::Absent);
    if parts.header.is_absent() && parts.metadata.is_absent() && !told_flat {
        return None;
    }
    Some(build(
        std::mem::take(&mut parts.header),
        std::mem::take(&mut parts.metadata),
        flat,
    ))
}

fn build<'a>(
    header: Slot<RawHeader<'a>>,
    metadata: Slot<RawMetadata<'a>>,
    flat: Option<&mut Flat<'a>>,
) -> Result<Context<'a>, Rejection> {
    let (flat_header, flat_metadata) = match flat {
        Some(flat) => (
            std::mem::take(&mut flat.header),
            std::mem::take(&mut flat.metadata),
        ),
        None => Default::default(),
    };
    let header = match header {
        Slot::Object(header) => header,
        Slot::Wrong => return Err(Rejection::wrong_type("header", "an object")),
        Slot::Absent if flat_header.id == Text::Absent => return Err(Rejection::missing("header")),
        Slot::Absent => flat_header,
    };
    let mut metadata = match metadata {
        Slot::Object(mut metadata) => {
            // Labels are also seen beside the objects.
            if metadata.extra_tags.0.is_none() && metadata.user_tag.0.is_none() {
                metadata.extra_tags = flat_metadata.extra_tags;
                metadata.user_tag = flat_metadata.user_tag;
            }
            metadata
        }
        Slot::Wrong => return Err(Rejection::wrong_type("metadata", "an object")),
        Slot::Absent if flat_metadata.hostname == Text::Absent => {
            return Err(Rejection::missing("metadata"));
        }
        Slot::Absent => flat_metadata,
    };

    let id = needed("header.id", header.id)?;
    let (rank, n_ranks, nnodes) = place(header.rank, header.n_ranks, header.nnodes)?;
    let hostname = needed("metadata.hostname", metadata.hostname)?;
    let pid = whole(
        "metadata.pid",
        metadata.pid,
        i64::MAX as u64,
        "no process has it",
    )?;
    let timestamp = whole(
        "metadata.dump_timestamp_us",
        metadata.dump_timestamp_us,
        MAX_TIMESTAMP,
        "after the year 2200",
    )?;
    let tags = match (metadata.extra_tags.0.take(), metadata.user_tag.0.take()) {
        (Some(tags), None) | (None, Some(tags)) => Some(tags.into()),
        (None, None) => None,
        (Some(extra), Some(user)) => Some(format!("{extra} {user}").into()),
    };
    Ok(Context {
        id,
        comm_name: header.comm_name.told(),
        rank,
        n_ranks,
        nnodes,
        format_version: metadata.format_version.told(),
        git_rev: metadata.git_rev.told(),
        rec_mechanism: metadata.rec_mechanism.told(),
        dump_timestamp_us: timestamp as i64,
        hostname,
        pid: pid as i64,
        gpu_uuid: metadata.gpu_uuid.known(),
        tags,
    })
}

/// Rank, ranks and nodes, which limit one another.
fn place(rank: Number, n_ranks: Number, nnodes: Number) -> Result<(u32, u32, u32), Rejection> {
    let narrow = |key, number| whole(key, number, MAX_RANKS, "more than any job has");
    let n_ranks = narrow("header.n_ranks", n_ranks)?;
    let rank = narrow("header.rank", rank)?;
    let nnodes_value = narrow("header.nnodes", nnodes)?;
    if n_ranks == 0 {
        return Err(Rejection::implausible(
            "header.n_ranks",
            Number::Unsigned(0),
            "a communicator has ranks",
        ));
    }
    if rank >= n_ranks {
        return Err(Rejection::contradiction(
            "header.rank",
            rank,
            "header.n_ranks",
            n_ranks,
        ));
    }
    if nnodes_value == 0 {
        return Err(Rejection::implausible(
            "header.nnodes",
            nnodes,
            "a communicator has nodes",
        ));
    }
    if nnodes_value > n_ranks {
        return Err(Rejection::contradiction(
            "header.nnodes",
            nnodes_value,
            "header.n_ranks",
            n_ranks,
        ));
    }
    // All three are at most MAX_RANKS.
    Ok((rank as u32, n_ranks as u32, nnodes_value as u32))
}

fn needed<'a>(key: &'static str, text: Text<'a>) -> Result<std::borrow::Cow<'a, str>, Rejection> {
    match text {
        Text::Value(text) if !text.is_empty() => Ok(text),
        Text::Value(_) => Err(Rejection {
            reason: super::Reason::MissingField,
            detail: super::Detail::WrongType(key, "a name: it is empty"),
        }),
        Text::Absent => Err(Rejection::missing(key)),
        Text::Wrong => Err(Rejection::wrong_type(key, "text")),
    }
}
