//! The fabric: every network transfer slow for a time.

use std::collections::BTreeSet;

use super::lateness::Series;
use super::slow_link::{SLOW, SlowLink, Z, logs, points};
use super::transfer::Unit;
use crate::facts::Scope;
use crate::measured::Measured;
use crate::statistics::robust;
use crate::statistics::window::{self, Noise, Standout};

/// Operations of a unit before its pace over time is known: of fewer, a quarter of the run holds hardly more than two.
const KNOWN_OVER_TIME: f64 = 16.0;

/// Least noise of a pooled series, as a logarithm: a thousandth of the time.
const NOISE_FLOOR: f64 = 1e-3;

/// A fabric that is slow for half of the run or longer is told only where it is clearly so: nothing says which of two paces is the usual one.
const SLOW_FOR_LONG: f64 = 1.3;

/// Stretches that are left to tell the usual pace from.
const LEAST_OUTSIDE: usize = 6;

/// Outside of that time it is as fast as the fastest quarter, up to this part of what it is slower inside.
const REST: f64 = 0.25;

/// A fault of the fabric touches nearly all network units.
const FABRIC: f64 = 0.8;

/// A time in which nearly every network transfer was slow: the fabric. Needs a rest of the run to compare with.
pub(super) fn fabric(m: &Measured, units: &[Unit]) -> Option<(SlowLink, BTreeSet<usize>)> {
    let network: Vec<usize> = (0..units.len())
        .filter(|&i| units[i].network && !units[i].partial)
        .filter(|&i| units[i].operations >= KNOWN_OVER_TIME)
        .collect();
    let paces = [Pace::Middle, Pace::Fast];
    paces
        .into_iter()
        .find_map(|pace| fabric_against(m, units, &network, pace))
}

/// What the transfers of a unit are held against over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Its middle, while the fabric is slow for less than half of the run.
    Middle,
    /// The pace of its fastest quarter, where it is slow for longer.
    Fast,
}

impl Pace {
    fn of(self, logs: &Series) -> f64 {
        let quantile = match self {
            Self::Middle => 0.5,
            Self::Fast => 0.125,
        };
        let mut values: Vec<f64> = logs.iter().flatten().copied().collect();
        robust::quantile(&mut values, quantile).unwrap_or(0.0)
    }

    /// How much the pooled series moves by itself: where the fabric is slow for half of the run, only from one stretch to the next.
    fn noise(self, pooled: &Series) -> Noise {
        match self {
            Self::Middle => window::noise(std::slice::from_ref(pooled), NOISE_FLOOR),
            Self::Fast => {
                let present: Vec<f64> = pooled.iter().flatten().copied().collect();
                let steps: Vec<f64> = present.windows(2).map(|w| w[1] - w[0]).collect();
                let point = robust::scale(&steps).unwrap_or(0.0) / std::f64::consts::SQRT_2;
                Noise {
                    point: point.max(NOISE_FLOOR),
                }
            }
        }
    }

    /// Whether a window of the pooled series is the fabric's being slow.
    fn accepts(self, standout: &Standout, pooled: &Series) -> bool {
        if standout.whole || standout.z < Z || standout.mean.exp() < SLOW {
            return false;
        }
        let outside: Vec<f64> = (0..)
            .zip(pooled)
            .filter(|(b, _)| !(standout.start..standout.end).contains(b))
            .filter_map(|(_, v)| *v)
            .collect();
        let level = outside.iter().sum::<f64>() / outside.len().max(1) as f64;
        self == Self::Middle
            || (standout.mean.exp() >= SLOW_FOR_LONG
                && outside.len() >= LEAST_OUTSIDE
                && level <= REST * standout.mean)
    }
}

/// The fabric, against one pace of each unit. `network` are the units looked at.
fn fabric_against(
    m: &Measured,
    units: &[Unit],
    network: &[usize],
    pace: Pace,
) -> Option<(SlowLink, BTreeSet<usize>)> {
    // Of each unit, the ratio against its own usual pace.
    let own: Vec<Series> = network
        .iter()
        .map(|&i| {
            let logs = logs(&units[i]);
            let usual = pace.of(&logs);
            logs.into_iter().map(|v| v.map(|v| v - usual)).collect()
        })
        .collect();
    // Pooled they are sharper than any unit alone.
    let pooled: Series = (0..m.grid.len())
        .map(|b| robust::median(&mut own.iter().filter_map(|s| s[b]).collect::<Vec<_>>()))
        .collect();
    let chunks: Vec<f64> = (0..m.grid.len())
        .map(|b| network.iter().map(|&i| units[i].chunks[b]).sum())
        .collect();
    let standout = window::standout(&points(&pooled, &chunks), pace.noise(&pooled))?;
    if !pace.accepts(&standout, &pooled) {
        return None;
    }
    let inside = standout.start..standout.end;
    let level = |s: &Series| {
        let (sum, n) = s[inside.clone()]
            .iter()
            .flatten()
            .fold((0.0, 0_u32), |a, v| (a.0 + v, a.1 + 1));
        (n > 0).then(|| sum / f64::from(n))
    };
    let levels: Vec<(usize, f64)> = network
        .iter()
        .zip(&own)
        .filter_map(|(&i, s)| Some((i, level(s)?)))
        .collect();
    let covered: BTreeSet<usize> = levels
        .iter()
        .filter(|x| x.1 >= 0.5 * standout.mean)
        .map(|x| x.0)
        .collect();
    if (covered.len() as f64) < FABRIC * levels.len() as f64 {
        return None;
    }
    // Where most of the run is slow, so is what units are held against elsewhere.
    let lost = |&(i, series): &(usize, &Series)| -> f64 {
        match pace {
            Pace::Middle => units[i].excess[inside.clone()].iter().sum(),
            Pace::Fast => inside
                .clone()
                .map(|b| units[i].time[b] * (1.0 - (-series[b].unwrap_or(0.0)).exp()).max(0.0))
                .sum(),
        }
    };
    let time_lost = (network.iter().copied().zip(&own))
        .filter(|(i, _)| covered.contains(i))
        .map(|x| lost(&x))
        .sum();
    let hosts = m
        .topology
        .processes
        .iter()
        .map(|p| p.host.clone())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let link = SlowLink {
        scope: Scope::Fabric,
        processes: Vec::new(),
        hosts,
        standout,
        ratio: standout.mean.exp(),
        units: covered.iter().copied().collect(),
        fast: network.len() - covered.len(),
        time_lost,
    };
    Some((link, covered))
}
