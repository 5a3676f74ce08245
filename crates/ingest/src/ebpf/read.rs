//! One database, read-only.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Result};

use super::{HostTrace, NcclCall};

/// Reads a database of either shape; `None` when it has neither's tables.
pub(super) fn read(path: &Path) -> Result<Option<HostTrace>> {
    let db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    let mut trace = HostTrace {
        path: path.to_owned(),
        ..HostTrace::default()
    };
    let mut known = false;
    if has(&db, "nccl_events", "timestamp_ns")? {
        known = true;
        trace.calls = calls(&db)?;
    }
    if has(&db, "tcp_events", "timestamp_ns")? {
        known = true;
        let sql = "SELECT timestamp_ns FROM tcp_events WHERE event = 'tcp_retransmit_skb' AND typeof(timestamp_ns) = 'integer'";
        trace.retransmits_ns.extend(stamps(&db, sql, &[])?);
    }
    if has(&db, "events", "source")? && has(&db, "events", "timestamp")? {
        known = true;
        let (source, op) = retransmit_code(&db)?;
        let sql = "SELECT timestamp FROM events WHERE source = ?1 AND op = ?2 AND typeof(timestamp) = 'integer'";
        trace
            .retransmits_ns
            .extend(stamps(&db, sql, &[source, op])?);
        trace.node = node(&db)?;
    }
    trace.retransmits_ns.sort_unstable();
    Ok(known.then_some(trace))
}

/// Whether a table has a column; a table that isn't there has none.
fn has(db: &Connection, table: &str, column: &str) -> Result<bool> {
    db.query_row(
        "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2",
        [table, column],
        |r| r.get::<_, i64>(0),
    )
    .map(|n| n > 0)
}

fn stamps(db: &Connection, sql: &str, codes: &[i64]) -> Result<Vec<i64>> {
    db.prepare(sql)?
        .query_map(rusqlite::params_from_iter(codes), |r| r.get(0))?
        .collect()
}

/// The file's own codes for a TCP retransmit; the usual ones (6, 1) where it names none.
fn retransmit_code(db: &Connection) -> Result<(i64, i64)> {
    let usual = (6, 1);
    if !has(db, "sources", "name")? || !has(db, "ops", "name")? {
        return Ok(usual);
    }
    let sql = "SELECT o.source_id, o.op_id FROM ops o JOIN sources s ON s.id = o.source_id
               WHERE upper(s.name) = 'TCP' AND o.name LIKE 'tcp_retransmit%' ORDER BY 1, 2 LIMIT 1";
    match db.query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?))) {
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(usual),
        other => other,
    }
}

/// The host that the events or the sessions name, when it is one.
fn node(db: &Connection) -> Result<Option<String>> {
    for table in ["sessions", "events"] {
        if !has(db, table, "node")? {
            continue;
        }
        let sql = format!("SELECT DISTINCT node FROM {table} WHERE node <> '' LIMIT 2");
        let names: Vec<String> = db
            .prepare(&sql)?
            .query_map([], |r| r.get(0))?
            .collect::<Result<_>>()?;
        if let [one] = names.as_slice() {
            return Ok(Some(one.clone()));
        }
    }
    Ok(None)
}

/// Operation, communicator and element count: what makes calls alike.
type Kind = (Option<String>, Option<i64>, Option<i64>);

fn calls(db: &Connection) -> Result<Vec<NcclCall>> {
    // Columns beyond these differ between writers; what is missing doesn't tell calls apart.
    let optional = |c: &str| -> Result<String> {
        Ok(if has(db, "nccl_events", c)? {
            c.to_owned()
        } else {
            "NULL".to_owned()
        })
    };
    let sql = format!(
        "SELECT timestamp_ns, duration_ns, op, {}, {} FROM nccl_events
         WHERE typeof(timestamp_ns) = 'integer' AND typeof(duration_ns) = 'integer' AND duration_ns >= 0",
        optional("comm_id_hash")?,
        optional("count")?
    );
    let mut kinds: HashMap<Kind, u32> = HashMap::new();
    let mut statement = db.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut out = Vec::new();
    while let Some(r) = rows.next()? {
        let key = (
            r.get(2).unwrap_or(None),
            r.get(3).unwrap_or(None),
            r.get(4).unwrap_or(None),
        );
        let next = u32::try_from(kinds.len()).unwrap_or(u32::MAX);
        let kind = *kinds.entry(key).or_insert(next);
        out.push(NcclCall {
            start_ns: r.get(0)?,
            duration_ns: r.get(1)?,
            kind,
        });
    }
    out.sort_unstable();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(sql: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("gpu-001.db");
        Connection::open(&path)
            .and_then(|db| db.execute_batch(sql))
            .expect("a database");
        (dir, path)
    }

    #[test]
    fn both_shapes_are_told_by_their_tables() {
        let (_dir, path) = made(
            "CREATE TABLE nccl_events (timestamp_ns INTEGER, duration_ns INTEGER, pid INTEGER, op TEXT, rank INTEGER, nranks INTEGER, comm_id_hash INTEGER);
             INSERT INTO nccl_events VALUES (1000, 50, 7, 'ALL_REDUCE', 0, 8, 42), (3000, 60, 7, 'ALL_REDUCE', 0, 8, 42), (2000, 9, 7, 'SEND', 0, 8, 42);
             CREATE TABLE tcp_events (timestamp_ns INTEGER, event TEXT);
             INSERT INTO tcp_events VALUES (1010, 'tcp_retransmit_skb'), (1020, 'tcp_reset');",
        );
        let trace = read(&path).expect("readable").expect("a trace");
        assert_eq!(trace.retransmits_ns, [1010]);
        assert_eq!(
            trace
                .calls
                .iter()
                .map(|c| (c.start_ns, c.kind))
                .collect::<Vec<_>>(),
            [(1000, 0), (2000, 1), (3000, 0)]
        );
    }

    #[test]
    fn codes_are_the_files_own() {
        let (_dir, path) = made(
            "CREATE TABLE events (id TEXT, timestamp INTEGER, source INTEGER, op INTEGER, node TEXT);
             CREATE TABLE sources (id INTEGER, name TEXT); CREATE TABLE ops (source_id INTEGER, op_id INTEGER, name TEXT);
             INSERT INTO sources VALUES (17, 'TCP'); INSERT INTO ops VALUES (17, 3, 'tcp_retransmit');
             INSERT INTO events VALUES ('a:1', 5, 17, 3, 'n1'), ('a:2', 6, 6, 1, 'n1');",
        );
        let trace = read(&path).expect("readable").expect("a trace");
        assert_eq!(
            (trace.retransmits_ns, trace.node.as_deref()),
            (vec![5], Some("n1"))
        );
    }

    #[test]
    fn other_databases_and_broken_ones_are_no_traces() {
        let (_dir, path) = made("CREATE TABLE t (x);");
        assert_eq!(read(&path).expect("readable"), None);
        let bytes = std::fs::read(&path).expect("bytes");
        std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("cut");
        assert!(read(&path).is_err());
    }
}
