//! Families: communicators of one shape and role.
//!
//! One shape is class, ranks and nodes; one role is the name with its index stripped and, since many programs name nothing,
//! operations and message sizes that overlap. Sets needn't be equal: dumps lose records.

use std::collections::{BTreeMap, BTreeSet};

use super::identity::Comm;
use crate::facts::CommClass;

/// Two communicators play one role when the operations they share are at least this part of those that either has.
/// Lost records thin the sets out; different roles (gradients, activations) share few sizes or none.
const OVERLAP: f64 = 0.3;

/// What a communicator does: functions and message sizes.
pub(crate) type Repertoire = BTreeSet<(u32, u64)>;

/// A family: its label and its communicators.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kin {
    /// A name for people.
    pub(crate) label: String,
    /// Class.
    pub(crate) class: CommClass,
    /// Ranks of each.
    pub(crate) n_ranks: u32,
    /// Nodes of each.
    pub(crate) nnodes: u32,
    /// Index of the run.
    pub(crate) run: u32,
    /// Indices of the communicators, ascending.
    pub(crate) comms: Vec<usize>,
}

/// Sorts communicators into families. `repertoire` holds the (function, size) pairs of each.
pub(crate) fn families(comms: &[Comm], repertoire: &[Repertoire]) -> Vec<Kin> {
    let mut shapes: BTreeMap<(u32, CommClass, u32, u32, String), Vec<usize>> = BTreeMap::new();
    for (i, c) in comms.iter().enumerate() {
        let stem = c.name.as_deref().map(stem).unwrap_or_default();
        shapes
            .entry((c.run, c.class(), c.n_ranks, c.nnodes, stem))
            .or_default()
            .push(i);
    }
    let mut out = Vec::new();
    for ((run, class, n_ranks, nnodes, stem), members) in shapes {
        let mut roles: Vec<(Repertoire, Vec<usize>)> = Vec::new();
        for i in members {
            let mine = &repertoire[i];
            match roles
                .iter_mut()
                .find(|(theirs, _)| overlap(mine, theirs) >= OVERLAP)
            {
                Some((theirs, members)) => {
                    theirs.extend(mine);
                    members.push(i);
                }
                None => roles.push((mine.clone(), vec![i])),
            }
        }
        let several = roles.len() > 1;
        for (k, (_, comms)) in roles.into_iter().enumerate() {
            let shape = format!("{class} {n_ranks}×{nnodes}");
            let name = if stem.is_empty() { shape } else { stem.clone() };
            let label = if several {
                format!("{name} ({})", letter(k))
            } else {
                name
            };
            out.push(Kin {
                label,
                class,
                n_ranks,
                nnodes,
                run,
                comms,
            });
        }
    }
    out
}

fn letter(k: usize) -> String {
    u8::try_from(k)
        .ok()
        .filter(|&k| k < 26)
        .map_or_else(|| (k + 1).to_string(), |k| char::from(b'a' + k).to_string())
}

fn overlap(a: &Repertoire, b: &Repertoire) -> f64 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 {
        1.0
    } else {
        shared as f64 / all as f64
    }
}

/// A communicator's name without the index that tells it from its siblings: "DP Group 3" → "DP Group", "mesh_tp_07" → "`mesh_tp`".
pub(crate) fn stem(name: &str) -> String {
    let mut s = name.trim();
    loop {
        let cut = s.trim_end_matches(|c: char| {
            c.is_ascii_digit() || c.is_whitespace() || "_-:.#/()[]".contains(c)
        });
        if cut.len() == s.len() || cut.is_empty() {
            break;
        }
        s = cut;
    }
    s.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_index_and_nothing_else() {
        for (name, expected) in [
            ("DP Group 3", "DP Group"),
            ("TP Group 12", "TP Group"),
            ("default_pg", "default_pg"),
            ("mesh_tp_07", "mesh_tp"),
            ("pp[2]", "pp"),
            ("7", "7"),
            ("", ""),
        ] {
            assert_eq!(stem(name), expected);
        }
    }

    fn comm(name: Option<&str>) -> Comm {
        Comm {
            id: "0x1".into(),
            name: name.map(str::to_owned),
            n_ranks: 4,
            nnodes: 4,
            run: 0,
            members: vec![],
            seen: (0, 1),
        }
    }

    #[test]
    fn without_names_roles_are_told_apart_by_what_they_do() {
        let comms = vec![comm(None), comm(None), comm(None)];
        let gradients = BTreeSet::from([(0, 1 << 20), (0, 1 << 22)]);
        let activations = BTreeSet::from([(1, 1 << 25)]);
        let kin = families(&comms, &[gradients.clone(), activations, gradients]);
        assert_eq!(
            kin.iter().map(|k| k.comms.clone()).collect::<Vec<_>>(),
            [vec![0, 2], vec![1]]
        );
        assert_eq!(kin[0].label, "hca-only 4×4 (a)");
    }

    #[test]
    fn names_join_siblings_of_different_index() {
        let comms = vec![
            comm(Some("DP Group 0")),
            comm(Some("DP Group 1")),
            comm(Some("EP Group 0")),
        ];
        let same = BTreeSet::from([(0, 1 << 20)]);
        let kin = families(&comms, &[same.clone(), same.clone(), same]);
        assert_eq!(
            kin.iter()
                .map(|k| (k.label.as_str(), k.comms.len()))
                .collect::<Vec<_>>(),
            [("DP Group", 2), ("EP Group", 1)]
        );
    }
}
