//! Whether a file is a dump at all, told from lines that gave no record.

use memchr::memmem;

/// What some other file would hardly hold: a key of the format with an object under it, or the beginning of a genuine line.
pub(super) fn is_evident(text: &[u8]) -> bool {
    const KEYS: [&[u8]; 4] = [
        b"\"coll_perf\"",
        b"\"p2p_perf\"",
        b"\"dump_stats\"",
        b"\"proxy_trace\"",
    ];
    text.starts_with(b"{\"header\":{\"id\":\"")
        || KEYS.into_iter().any(|key| {
            memmem::find_iter(text, key).any(|at| {
                let behind = text[at + key.len()..].trim_ascii_start();
                behind
                    .strip_prefix(b":")
                    .is_some_and(|value| value.trim_ascii_start().first() == Some(&b'{'))
            })
        })
}

/// What a stream is that can't be a dump, by its first bytes.
pub(crate) fn foreign_format(head: &[u8]) -> Option<&'static str> {
    const FORMATS: [(&[u8], &str); 9] = [
        (b"SQLite format 3\0", "a SQLite database"),
        (
            b"\x28\xb5\x2f\xfd",
            "compressed with zstd, which isn't read here: decompress it first",
        ),
        (
            b"\xfd7zXZ\0",
            "compressed with xz, which isn't read here: decompress it first",
        ),
        (
            b"BZh",
            "compressed with bzip2, which isn't read here: decompress it first",
        ),
        (
            b"PK\x03\x04",
            "a zip archive, which isn't read here: unpack it first",
        ),
        (
            b"\x1f\x8b",
            "compressed twice with gzip: decompress it once",
        ),
        (b"PAR1", "a Parquet file"),
        (b"\xff\xfe", "UTF-16 text: convert it to UTF-8 first"),
        (b"\xfe\xff", "UTF-16 text: convert it to UTF-8 first"),
    ];
    FORMATS
        .into_iter()
        .find(|(magic, _)| head.starts_with(magic))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_a_dump() {
        assert!(is_evident(br#"{"header":{"id":"0x"#));
        assert!(is_evident(br#"garbage "coll_perf" : { "coll""#));
        for other in [
            r#"{"header":{"alg":"HS256"}}"#,
            r#"{"metadata":{"hostname":"a"}}"#,
            r#"the key "coll_perf" is read"#,
            r#"{"coll_perf":3}"#,
            "",
        ] {
            assert!(!is_evident(other.as_bytes()), "{other}");
        }
    }
}
