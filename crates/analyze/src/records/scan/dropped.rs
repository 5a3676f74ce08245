//! Records dropped, as dump statistics admit.

use std::path::Path;

use super::columns::open;
use crate::Error;
use crate::records::registry::{EndpointKey, Registry};

const COLUMNS: [&str; 9] = [
    "id",
    "comm_name",
    "rank",
    "n_ranks",
    "nnodes",
    "hostname",
    "pid",
    "coll_dropped_total",
    "p2p_dropped_total",
];

/// Reads the dump statistics of one Parquet file: for each endpoint the largest total of records dropped that it admits.
pub(crate) fn dropped(path: &Path) -> Result<Vec<(EndpointKey, u64)>, Error> {
    let mut endpoints: Registry<EndpointKey> = Registry::default();
    let mut most: Vec<(i64, i64)> = Vec::new();
    let mut of = Vec::new();
    for columns in open(path, COLUMNS)? {
        let columns = columns?;
        columns.endpoints(&mut endpoints, &mut of)?;
        most.resize(endpoints.items().len(), (0, 0));
        let (coll, p2p) = (
            columns.longs("coll_dropped_total")?,
            columns.longs("p2p_dropped_total")?,
        );
        for (i, &e) in of.iter().enumerate() {
            let m = &mut most[e as usize];
            *m = (m.0.max(coll[i]), m.1.max(p2p[i]));
        }
    }
    Ok(endpoints
        .items()
        .iter()
        .cloned()
        .zip(most)
        .map(|(k, (c, p))| (k, c.unsigned_abs().saturating_add(p.unsigned_abs())))
        .collect())
}
