//! One database, table by table, row by row: memory holds a batch of rows, whatever the size of the file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;

use super::open::Opened;
use super::trouble::Trouble;
use super::{Cells, OpNames, Refused, TraceSeen};
use crate::Error;
use crate::dataset::{TableWriter, TraceTables};
use crate::inputs::LineExample;
use crate::inspector::FileTally;
use crate::table::TraceColumns;

/// Rows between two looks at whether to stop.
const ROWS_BETWEEN: u64 = 8192;

/// Rows shown of each reason, and tables named of a database that holds none that is known.
const EXAMPLES: usize = 3;
const NAMED: usize = 6;

/// Tables without which a database is no trace.
const KNOWN: [(&str, &str); 3] = [
    ("events", "timestamp"),
    ("nccl_events", "timestamp_ns"),
    ("tcp_events", "timestamp_ns"),
];

/// The event that is a retransmit, in the shape that names it.
const RETRANSMIT: &str = "event = 'tcp_retransmit_skb'";

/// What reading needs to know of its surroundings.
pub(crate) struct Reading<'a> {
    /// The database.
    pub(crate) path: &'a Path,
    /// What it is called in examples and in `source_file`.
    pub(crate) name: &'a str,
    /// A folder for a copy, should one be needed.
    pub(crate) scratch: &'a Path,
    /// Set to stop.
    pub(crate) cancel: &'a AtomicBool,
    /// Told the number of rows since the last call.
    pub(crate) on_rows: &'a mut dyn FnMut(u64),
}

/// Reads a database of any shape and version to its end. What is wrong with the file isn't an error but told in the tally.
///
/// # Errors
/// When a table can't be written, or when cancelled.
pub(crate) fn read_trace(
    reading: Reading<'_>,
    tables: &mut TraceTables<'_>,
) -> Result<(FileTally, TraceSeen), Error> {
    let opened = match Opened::open(reading.path, reading.scratch) {
        Ok(opened) => opened,
        Err(trouble) => return Ok((skipped(&trouble.to_string()), TraceSeen::default())),
    };
    let mut reader = match Reader::of(&opened.db, reading) {
        Ok(reader) => reader,
        Err(trouble) => return Ok((skipped(&trouble.to_string()), TraceSeen::default())),
    };
    if !KNOWN
        .iter()
        .any(|&(table, column)| reader.has(table, column))
    {
        return Ok((skipped(&reader.foreign()), TraceSeen::default()));
    }
    reader.all(tables)?;
    Ok(reader.finish())
}

fn skipped(reason: &str) -> FileTally {
    FileTally {
        skipped: Some(reason.to_owned()),
        ..FileTally::default()
    }
}

struct Reader<'d, 'r> {
    db: &'d Connection,
    reading: Reading<'r>,
    /// Columns of each table.
    schema: BTreeMap<String, BTreeSet<String>>,
    names: Rc<OpNames>,
    host_of_file: Option<String>,
    tally: FileTally,
    seen: TraceSeen,
}

impl<'d, 'r> Reader<'d, 'r> {
    fn of(db: &'d Connection, reading: Reading<'r>) -> Result<Self, Trouble> {
        let schema = schema(db)?;
        let has = |table: &str, column: &str| schema.get(table).is_some_and(|c| c.contains(column));
        let (names, trouble) = OpNames::of(
            db,
            has("sources", "id") && has("sources", "name"),
            ["source_id", "op_id", "name"].iter().all(|c| has("ops", c)),
        );
        let mut reader = Self {
            db,
            reading,
            names: Rc::new(names),
            host_of_file: None,
            tally: FileTally::default(),
            seen: TraceSeen::default(),
            schema,
        };
        reader.damaged(trouble);
        reader.host_of_file = reader.only_host();
        if reader.has("schema_info", "key") && reader.has("schema_info", "value") {
            let sql = "SELECT CAST(value AS TEXT) FROM schema_info WHERE key = 'version'";
            reader.seen.version = db.query_row(sql, [], |r| r.get(0)).ok();
        }
        Ok(reader)
    }

    fn has(&self, table: &str, column: &str) -> bool {
        self.schema
            .get(table)
            .is_some_and(|columns| columns.contains(column))
    }

    /// What a database holds that isn't a trace.
    fn foreign(&self) -> String {
        let names: Vec<&str> = self.schema.keys().take(NAMED).map(String::as_str).collect();
        match names.len() {
            0 => "a SQLite database without a table".to_owned(),
            n if self.schema.len() > n => format!(
                "a SQLite database, but no trace of a kind that is known: it holds {} and {} more tables",
                names.join(", "),
                self.schema.len() - n
            ),
            _ => format!(
                "a SQLite database, but no trace of a kind that is known: it holds {}",
                names.join(", ")
            ),
        }
    }

    /// The host that sessions and events name, when it is one: what says nothing else belongs to it.
    fn only_host(&mut self) -> Option<String> {
        let mut hosts: BTreeSet<String> = BTreeSet::new();
        for table in ["sessions", "events", "nccl_events", "tcp_events"] {
            if !self.has(table, "node") {
                continue;
            }
            // Few hosts and many rows: each next one is looked for above the last, which stops at the second.
            let sql = format!(
                "SELECT DISTINCT node FROM {table} WHERE typeof(node) = 'text' AND node <> '' LIMIT 2"
            );
            let read = (|| {
                let mut statement = self.db.prepare(&sql)?;
                let names = statement.query_map([], |r| r.get::<_, String>(0))?;
                names.collect::<rusqlite::Result<Vec<_>>>()
            })();
            hosts.extend(read.unwrap_or_default());
            if hosts.len() > 1 {
                return None;
            }
        }
        hosts.pop_first()
    }

    fn all(&mut self, tables: &mut TraceTables<'_>) -> Result<(), Error> {
        self.table(&mut tables.host_events, None)?;
        self.table(&mut tables.host_event_aggregates, None)?;
        self.table(&mut tables.nccl_calls, None)?;
        if self.has("tcp_events", "event") {
            self.table(&mut tables.tcp_retransmits, Some(RETRANSMIT))?;
            self.table(
                &mut tables.tcp_other_events,
                Some("event IS NOT 'tcp_retransmit_skb'"),
            )?;
        } else {
            self.table(&mut tables.tcp_retransmits, None)?;
        }
        self.retransmits_among_events(tables)?;
        self.table(&mut tables.sessions, None)?;
        self.table(&mut tables.process_names, None)?;
        self.table(&mut tables.system_snapshots, None)?;
        self.table(&mut tables.cgroups, None)?;
        self.table(&mut tables.cgroup_off_cpu, None)?;
        self.table(&mut tables.causal_chains, None)?;
        self.table(&mut tables.stack_traces, None)
    }

    /// Reads a table, or the rows of it that a condition takes, under the names that its columns go by.
    fn table<C: TraceColumns>(
        &mut self,
        writer: &mut TableWriter<'_, C>,
        only: Option<&str>,
    ) -> Result<(), Error> {
        let Some(present) = self.schema.get(C::FROM) else {
            return Ok(());
        };
        let columns: Vec<&str> = C::SOURCES
            .iter()
            .map(|names| {
                names
                    .split('|')
                    .find(|name| present.contains(*name))
                    .unwrap_or("NULL")
            })
            .collect();
        self.rows(writer, C::FROM, &columns.join(", "), only, true)
    }

    /// The retransmits of a database that lists them among all events. Its agents pack addresses and ports into the arguments, the
    /// first part of an address in the lowest byte; addresses other than IPv4 are 0.
    fn retransmits_among_events(&mut self, tables: &mut TraceTables<'_>) -> Result<(), Error> {
        if !["timestamp", "source", "op"]
            .iter()
            .all(|column| self.has("events", column))
        {
            return Ok(());
        }
        let address = |shift: u32| {
            let part = |n: u32| format!("(arg0 >> {}) & 255", shift + 8 * n);
            format!(
                "CASE WHEN typeof(arg0) = 'integer' AND (arg0 >> {shift}) & 4294967295 <> 0 THEN printf('%d.%d.%d.%d', {}, {}, {}, {}) END",
                part(0),
                part(1),
                part(2),
                part(3)
            )
        };
        let port = |shift: u32| {
            format!(
                "CASE WHEN typeof(arg1) = 'integer' AND arg1 <> 0 THEN (arg1 >> {shift}) & 65535 END"
            )
        };
        let or_null = |column: &str, sql: String| {
            if self.has("events", column) {
                sql
            } else {
                "NULL".to_owned()
            }
        };
        let plain = |column: &str| or_null(column, column.to_owned());
        let columns = [
            plain("node"),
            "timestamp".into(),
            "'tcp_retransmit'".into(),
            plain("pid"),
            plain("tid"),
            or_null("arg0", address(32)),
            or_null("arg0", address(0)),
            or_null("arg1", port(16)),
            or_null("arg1", port(0)),
            "NULL".into(),
            plain("gpu_id"),
            plain("cgroup_id"),
            plain("comm"),
        ]
        .join(", ");
        for (source, op) in self.names.retransmits() {
            let only = format!("source = {source} AND op = {op}");
            // Counted among the events; the table holds them a second time, beside those of the other shape.
            self.rows(
                &mut tables.tcp_retransmits,
                "events",
                &columns,
                Some(&only),
                false,
            )?;
        }
        Ok(())
    }

    /// Reads rows forwards; where a page is damaged, also backwards from the end as far as that goes.
    fn rows<C: TraceColumns>(
        &mut self,
        writer: &mut TableWriter<'_, C>,
        from: &str,
        columns: &str,
        only: Option<&str>,
        counted: bool,
    ) -> Result<(), Error> {
        let only = only.unwrap_or("true");
        let sql = |id: &str, rest: &str| {
            format!("SELECT {id}, {columns} FROM {from} WHERE {only} {rest}")
        };
        let with_rowid = self.db.prepare(&sql("rowid", "")).is_ok();
        let id = if with_rowid { "rowid" } else { "NULL" };
        let (last, trouble) = self.run(writer, &sql(id, ""), counted)?;
        let Some(trouble) = trouble else {
            return Ok(());
        };
        let damaged = matches!(trouble, Trouble::Damaged(_));
        self.damaged(Some(trouble));
        if damaged && with_rowid {
            let above = last.map_or_else(String::new, |last| format!("AND rowid > {last} "));
            let backwards = sql("rowid", &format!("{above}ORDER BY rowid DESC"));
            self.run(writer, &backwards, counted)?;
        }
        Ok(())
    }

    /// Gives the last row's number and why the rest can't be read.
    fn run<C: TraceColumns>(
        &mut self,
        writer: &mut TableWriter<'_, C>,
        sql: &str,
        counted: bool,
    ) -> Result<(Option<i64>, Option<Trouble>), Error> {
        let mut statement = match self.db.prepare(sql) {
            Ok(statement) => statement,
            Err(error) => return Ok((None, Some(error.into()))),
        };
        let mut rows = match statement.query([]) {
            Ok(rows) => rows,
            Err(error) => return Ok((None, Some(error.into()))),
        };
        let (names, host_of_file) = (Rc::clone(&self.names), self.host_of_file.clone());
        let (mut last, mut untold, mut ordinal) = (None, 0, 0);
        let trouble = loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => break None,
                Err(error) => break Some(error.into()),
            };
            ordinal += 1;
            let number = row.get(0).unwrap_or(ordinal);
            last = Some(number);
            let cells = Cells::new(row, &names, host_of_file.as_deref());
            let mut pushed = Ok(());
            let file = self.reading.name;
            writer.add(|columns| pushed = columns.push(&cells, file, number))?;
            if counted {
                match pushed {
                    Ok(()) => {
                        if cells.odd_values() > 0 {
                            self.repaired(C::FROM, number);
                        }
                        *self.tally.records.entry(C::KIND.to_owned()).or_default() += 1;
                        self.seen_row(C::KIND, row, &cells);
                    }
                    Err(refused) => self.rejected(C::FROM, number, refused),
                }
            }
            untold += 1;
            if untold == ROWS_BETWEEN {
                if self.reading.cancel.load(Ordering::Relaxed) {
                    return Err(Error::Cancelled);
                }
                (self.reading.on_rows)(untold);
                untold = 0;
            }
        };
        (self.reading.on_rows)(untold);
        Ok((last, trouble))
    }

    /// Notes when and where a row of events, calls or retransmits happened; every such table begins with its host.
    fn seen_row(&mut self, kind: &str, row: &rusqlite::Row<'_>, cells: &Cells<'_>) {
        if !matches!(
            kind,
            "host_event" | "nccl_call" | "tcp_retransmit" | "tcp_other_event"
        ) {
            return;
        }
        if let Some(ns) = cells.moment_ns() {
            self.seen.stamp(ns);
        }
        let own = row.get_ref(1).ok().and_then(|v| v.as_str().ok());
        let own = own.filter(|host| !host.is_empty());
        let host = own.or(self.host_of_file.as_deref()).map(str::to_owned);
        self.seen.host(host.as_deref());
    }

    fn rejected(&mut self, table: &str, row: i64, refused: Refused) {
        let (reason, detail) = match refused {
            Refused::Missing => ("missing_field", "has a null where a moment is needed"),
            Refused::Odd => (
                "odd_type",
                "has something else where a whole number is needed",
            ),
        };
        let example = self.example(row, reason, format!("a row of {table} {detail}"));
        note(&mut self.tally.rejected, example);
    }

    fn repaired(&mut self, table: &str, row: i64) {
        let detail = format!("a row of {table} has a value of another type, left out");
        let example = self.example(row, "odd_type", detail);
        note(&mut self.tally.repaired, example);
    }

    fn example(&self, row: i64, reason: &str, detail: String) -> LineExample {
        LineExample {
            path: self.reading.name.to_owned(),
            line: u64::try_from(row).unwrap_or(0),
            reason: reason.to_owned(),
            detail,
        }
    }

    fn damaged(&mut self, trouble: Option<Trouble>) {
        if let Some(trouble) = trouble {
            self.tally.damage.get_or_insert(trouble.to_string());
        }
    }

    fn finish(self) -> (FileTally, TraceSeen) {
        let mut tally = self.tally;
        let records: u64 = tally.records.values().sum();
        tally.lines = records + tally.rejected.lines;
        if tally.lines == 0 {
            let reason = match &tally.damage {
                Some(damage) => format!("no row could be read: {damage}"),
                None => "a trace without a row".to_owned(),
            };
            return (skipped(&reason), TraceSeen::default());
        }
        (tally, self.seen)
    }
}

fn note(counts: &mut crate::inputs::LineCounts, example: LineExample) {
    counts.lines += 1;
    let of_reason = counts.by_reason.entry(example.reason.clone()).or_default();
    *of_reason += 1;
    if *of_reason <= EXAMPLES as u64 {
        counts.examples.push(example);
    }
}

/// Ordinary tables and their columns. Views and virtual tables would run what the file says.
fn schema(db: &Connection) -> Result<BTreeMap<String, BTreeSet<String>>, Trouble> {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let mut statement = db.prepare(sql)?;
    let names: Vec<String> = statement
        .query_map([], |r| r.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut schema = BTreeMap::new();
    for name in names {
        let mut statement = db.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let columns = statement
            .query_map([&name], |r| r.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        // Under the spelling that SQLite takes for the same.
        schema.insert(name.to_ascii_lowercase(), lower(columns));
    }
    Ok(schema)
}

fn lower(names: BTreeSet<String>) -> BTreeSet<String> {
    names.iter().map(|name| name.to_ascii_lowercase()).collect()
}
