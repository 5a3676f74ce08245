//! The same records cut along other axes.

use std::collections::BTreeMap;

use super::families::share;
use crate::Error;
use crate::facts::{ProcessId, Share, Slice, SliceOf};
use crate::measured::Measured;
use crate::roll_up::{Axis, Cube, CubeCell, Measures};
use crate::units::{BusBandwidth, ExecTime, MessageSize};

/// The cube of all records, and the host names that its host axis means.
pub(crate) fn cube(m: &Measured) -> Result<(Cube, Vec<String>), Error> {
    let mut hosts: Vec<String> = m
        .topology
        .processes
        .iter()
        .map(|p| p.host.clone())
        .collect();
    hosts.sort();
    hosts.dedup();
    let host_number: BTreeMap<&str, u64> = hosts.iter().map(String::as_str).zip(0_u64..).collect();
    let of_timing = m.census.cells.iter().filter(|(k, _)| k.timing == m.timing);
    let expected = of_timing.clone().count();
    let cells = of_timing.map(|(k, s)| {
        let (comm, member) = m.topology.place[k.endpoint as usize];
        let (comm, process) = (
            comm as usize,
            m.topology.comms[comm as usize].members[member as usize].1,
        );
        let host = host_number[m.topology.processes[process.0 as usize].host.as_str()];
        let cell = m.facts[comm].cells.get(&(k.function, k.size));
        let wait = cell.and_then(|c| c.wait_of_members.get(member as usize));
        let wait = wait.copied().unwrap_or(0.0);
        CubeCell {
            at: [
                comm as u64,
                m.family_of[comm] as u64,
                host,
                process.0.into(),
                k.function.into(),
                k.size,
                k.p2p.into(),
            ],
            sums: Measures {
                records: s.records,
                bytes: s.bytes,
                nanos: (s.micros * 1e3).round() as u64,
                bus_kilobytes: s.busbw_micros.round() as u64,
                wait_nanos: (wait * 1e3).round() as u64,
            },
        }
    });
    let cube = Cube::new(cells, expected)?;
    Ok((cube, hosts))
}

fn slice(
    m: &Measured,
    of: SliceOf,
    function: u64,
    p2p: bool,
    sums: &Measures,
    total: f64,
) -> Slice {
    let micros = sums.nanos as f64 / 1e3;
    Slice {
        of,
        operation: m
            .function(u32::try_from(function).unwrap_or(u32::MAX))
            .to_owned(),
        records: sums.records,
        bytes: sums.bytes,
        time: ExecTime::from_micros(micros),
        wait: (!p2p).then(|| ExecTime::from_micros(sums.wait_nanos as f64 / 1e3)),
        busbw: BusBandwidth::from_gb_per_s(share(sums.bus_kilobytes as f64, micros)),
        share_of_time: share(micros, total),
    }
}

/// Slices by communicator, by host, by rank.
pub(crate) fn slices(m: &Measured, cube: &Cube, hosts: &[String]) -> Result<Vec<Slice>, Error> {
    let total = m.total_micros();
    let mut out = Vec::new();
    for ([communicator, function, p2p], sums) in
        cube.roll_up([Axis::Communicator, Axis::Function, Axis::PointToPoint])?
    {
        let of = SliceOf::Communicator {
            communicator: u32::try_from(communicator).unwrap_or(u32::MAX),
        };
        out.push(slice(m, of, function, p2p == 1, &sums, total));
    }
    for ([host, function, p2p], sums) in
        cube.roll_up([Axis::Host, Axis::Function, Axis::PointToPoint])?
    {
        let host = hosts
            .get(usize::try_from(host).unwrap_or(usize::MAX))
            .cloned()
            .unwrap_or_default();
        out.push(slice(
            m,
            SliceOf::Host { host },
            function,
            p2p == 1,
            &sums,
            total,
        ));
    }
    for ([process, function, p2p], sums) in
        cube.roll_up([Axis::Process, Axis::Function, Axis::PointToPoint])?
    {
        let process = ProcessId(u32::try_from(process).unwrap_or(u32::MAX));
        out.push(slice(
            m,
            SliceOf::Rank { process },
            function,
            p2p == 1,
            &sums,
            total,
        ));
    }
    Ok(out)
}

/// Slices by stretch of time, by the stamps of the dumps.
pub(crate) fn time_slices(m: &Measured) -> Vec<Slice> {
    let total = m.total_micros();
    m.census
        .stretches
        .iter()
        .filter(|((_, _, timing), _)| *timing == m.timing)
        .map(|((stretch, function, _), s)| {
            let (start, end) = m.stamps.bounds(*stretch);
            let sums = Measures {
                records: s.records,
                bytes: s.bytes,
                nanos: (s.micros * 1e3).round() as u64,
                bus_kilobytes: s.busbw_micros.round() as u64,
                wait_nanos: 0,
            };
            // Waiting isn't known by the stamp: it belongs to matched collectives.
            slice(
                m,
                SliceOf::Time { start, end },
                u64::from(*function),
                true,
                &sums,
                total,
            )
        })
        .collect()
}

/// Where the time goes, largest first.
pub(crate) fn shares(m: &Measured, cube: &Cube) -> Result<Vec<Share>, Error> {
    let total = m.total_micros();
    let mut out: Vec<Share> = cube
        .roll_up([Axis::Family, Axis::Function, Axis::Size])?
        .into_iter()
        .map(|([family, function, size], sums)| Share {
            family: u32::try_from(family).unwrap_or(u32::MAX),
            operation: m
                .function(u32::try_from(function).unwrap_or(u32::MAX))
                .to_owned(),
            size: MessageSize::from_bytes(size),
            records: sums.records,
            bytes: sums.bytes,
            time: ExecTime::from_micros(sums.nanos as f64 / 1e3),
            share_of_time: share(sums.nanos as f64 / 1e3, total),
        })
        .collect();
    out.sort_by(|a, b| {
        b.share_of_time
            .total_cmp(&a.share_of_time)
            .then_with(|| (a.family, &a.operation, a.size).cmp(&(b.family, &b.operation, b.size)))
    });
    Ok(out)
}
