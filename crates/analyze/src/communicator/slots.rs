//! Which GPU of its process each endpoint is, where one process drives several.

use std::collections::{BTreeMap, BTreeSet};

use super::identity::Draft;
use crate::records::registry::EndpointKey;

/// Run, host and pid → draft and endpoints.
type Held<'a> = BTreeMap<(u32, &'a str, i64), Vec<(usize, Vec<u32>)>>;

/// A key that sorts "DP Group 10" after "DP Group 9".
pub(super) fn natural(name: Option<&str>) -> (String, u64) {
    let name = name.unwrap_or_default();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem.to_owned(), name[stem.len()..].parse().unwrap_or(0))
}

/// Which GPU of its process each endpoint is: 0 where a process drives one.
///
/// In a communicator that holds as many ranks of a process as the process ever shows in one, the order of ranks is the order
/// of GPUs (`ncclCommInitAll` and one-process-many-GPU programs number them so). Smaller ones are taken in the order of their names, those
/// over the fewest nodes first: tensor groups hold neighbours, and a data-parallel group holds one GPU of each tensor group.
pub(super) fn device_slots(keys: &[EndpointKey], drafts: &[Draft], runs: &[u32]) -> Vec<u32> {
    let mut held: Held<'_> = BTreeMap::new();
    for (d, draft) in drafts.iter().enumerate() {
        let mut by_process: BTreeMap<(&str, i64), Vec<u32>> = BTreeMap::new();
        for &e in &draft.endpoints {
            by_process
                .entry((&keys[e as usize].host, keys[e as usize].pid))
                .or_default()
                .push(e);
        }
        for ((host, pid), mut endpoints) in by_process {
            endpoints.sort_unstable_by_key(|&e| keys[e as usize].rank);
            held.entry((runs[d], host, pid))
                .or_default()
                .push((d, endpoints));
        }
    }
    let mut slots = vec![0_u32; keys.len()];
    for comms in held.into_values() {
        let most = comms.iter().map(|c| c.1.len()).max().unwrap_or(1);
        if most == 1 {
            continue;
        }
        // Nodes, ranks, ranks of the process → its endpoints in each communicator of that shape.
        let mut shapes: BTreeMap<(u32, u32, usize), Vec<(usize, Vec<u32>)>> = BTreeMap::new();
        for (d, endpoints) in comms {
            let k = &keys[endpoints[0] as usize];
            if endpoints.len() == most {
                for (slot, e) in (0_u32..).zip(endpoints) {
                    slots[e as usize] = slot;
                }
            } else {
                let shape = (k.nnodes, k.n_ranks, endpoints.len());
                shapes.entry(shape).or_default().push((d, endpoints));
            }
        }
        let mut taken: Vec<BTreeSet<u32>> = Vec::new();
        for ((_, _, size), mut siblings) in shapes {
            siblings.sort_by_key(|(d, endpoints)| {
                let k = &keys[endpoints[0] as usize];
                (natural(k.name.as_deref()), k.id.clone(), *d)
            });
            let dealt = deal(siblings.len(), size, most, &taken);
            for ((_, endpoints), dealt) in siblings.into_iter().zip(dealt) {
                for (&e, &slot) in endpoints.iter().zip(&dealt) {
                    slots[e as usize] = slot;
                }
                taken.push(dealt.into_iter().collect());
            }
        }
    }
    slots
}

/// Deals the GPUs of a process out to `count` communicators with `size` of its ranks each: neighbours to each, unless two of them share a
/// communicator that is `taken` already; then every `count`-th.
fn deal(count: usize, size: usize, most: usize, taken: &[BTreeSet<u32>]) -> Vec<Vec<u32>> {
    let number = |slot: usize| u32::try_from(slot % most.max(1)).unwrap_or(0);
    let with = |slot: &dyn Fn(usize, usize) -> usize| -> Vec<Vec<u32>> {
        (0..count)
            .map(|c| (0..size).map(|k| number(slot(c, k))).collect())
            .collect()
    };
    let neighbours = with(&|c, k| c * size + k);
    let meets_twice = |slots: &Vec<u32>| {
        taken
            .iter()
            .any(|t| slots.iter().filter(|s| t.contains(s)).count() > 1)
    };
    if count * size == most && neighbours.iter().any(meets_twice) {
        with(&|c, k| c + k * count)
    } else {
        neighbours
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_their_number() {
        assert!(natural(Some("DP Group 9")) < natural(Some("DP Group 10")));
    }

    /// Eight GPUs: two tensor groups of four neighbours; then each of four data-parallel groups holds one GPU of either.
    #[test]
    fn data_parallel_groups_hold_one_of_each_tensor_group() {
        let tensor = deal(2, 4, 8, &[]);
        assert_eq!(tensor, [[0, 1, 2, 3], [4, 5, 6, 7]]);
        let taken: Vec<BTreeSet<u32>> = tensor
            .into_iter()
            .map(|t| t.into_iter().collect())
            .collect();
        assert_eq!(deal(4, 2, 8, &taken), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        // One GPU each: in order.
        assert_eq!(deal(3, 1, 8, &taken), [[0], [1], [2]]);
        // Not all are there: no guess but the order.
        assert_eq!(deal(3, 2, 8, &taken), [[0, 1], [2, 3], [4, 5]]);
    }
}
