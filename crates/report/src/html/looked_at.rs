//! What was looked at: the basis of each kind of finding in this job, so that silence can be told from blindness.

use nccl_report_analyze::facts::{CommClass, Communicator, Family, Job};

use super::quantity::{count, plural};
use super::text;

/// Families that are named.
const NAMED: usize = 6;

/// What the analysis needs to judge something, and what of it this job has.
pub(super) struct LookedAt {
    pub(super) what: &'static str,
    pub(super) text: String,
}

/// Point by point.
pub(super) fn points(job: &Job) -> Vec<LookedAt> {
    let pairs = match job.pairs.len() as u64 {
        0 => "no Send or Recv was recorded".to_owned(),
        n => format!(
            "the bandwidth of {}, each against the others",
            plural(n, "pair and size", "pairs and sizes")
        ),
    };
    let stages = if job.pairs.is_empty() {
        "could not be judged: no Send or Recv was recorded".to_owned()
    } else {
        "how long Sends wait for the stage that receives them, where Send and Recv make a pipeline"
            .to_owned()
    };
    [
        ("Late ranks and hosts", late(job)),
        ("Slow links", links(job)),
        ("Point to point", pairs),
        ("Pipeline stages", stages),
        (
            "TCP retransmits",
            "only where eBPF traces of the hosts lie beside the dumps".to_owned(),
        ),
        (
            "The data itself",
            "lost records, missing ranks, unreadable lines, clocks, several runs in one folder, sampled dumps".to_owned(),
        ),
        (
            "Not looked at",
            "anything that leaves no trace in the records: small messages, copy-engine and symmetric-memory collectives, and \
             computation between the collectives"
                .to_owned(),
        ),
    ]
    .into_iter()
    .map(|(what, text)| LookedAt { what, text })
    .collect()
}

fn late(job: &Job) -> String {
    let sum = |value: fn(&Communicator) -> u64| {
        let several = job.communicators.iter().filter(|c| c.n_ranks > 1);
        several.map(value).fold(0_u64, u64::saturating_add)
    };
    let complete = sum(|c| c.collectives_complete);
    if complete == 0 {
        return "could not be judged: no collective of several ranks has a record of each"
            .to_owned();
    }
    format!(
        "who arrives last, in the {} that {} a record of every rank, of {} seen",
        plural(complete, "collective", "collectives"),
        if complete == 1 { "has" } else { "have" },
        count(sum(|c| c.collectives))
    )
}

/// Whether no communicator of several ranks has a peer of its shape: a link that was slow all the time can't be told then.
pub(super) fn links_without_peers(job: &Job) -> bool {
    let mut several = job.families.iter().filter(|f| f.n_ranks > 1).peekable();
    several.peek().is_some() && several.all(|f| f.communicators.len() < 2)
}

/// Which links have peers, and which have none: a slow one among these can't be seen.
fn links(job: &Job) -> String {
    let several = |f: &&Family| f.communicators.len() > 1;
    let compared = job.families.iter().filter(several).count() as u64;
    let alone: Vec<&Family> = job
        .families
        .iter()
        .filter(|f| f.communicators.len() == 1 && f.class != CommClass::SingleRank)
        .collect();
    let mut said = match compared {
        0 => "no two communicators are of one shape, so none could be compared with its peers"
            .to_owned(),
        n => format!(
            "the shortest time of each collective, between the communicators of {} with more than one, and over time",
            plural(n, "family", "families")
        ),
    };
    if !alone.is_empty() {
        let mut names: Vec<String> = alone
            .iter()
            .take(NAMED)
            .map(|f| {
                format!(
                    "{} ({}, {})",
                    text::name(&f.label),
                    f.class,
                    plural(u64::from(f.n_ranks), "rank", "ranks")
                )
            })
            .collect();
        if alone.len() > NAMED {
            names.push(format!("and {} more", alone.len() - NAMED));
        }
        said.push_str(&format!(
            ". Without peers, so compared with themselves at other times only: {}. A link that is slow there from the first step to the \
             last isn't seen",
            names.join(", ")
        ));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    fn of(job: &Job, what: &str) -> String {
        let mut all = points(job).into_iter();
        let found = all.find(|p| p.what == what);
        found
            .map(|p| p.text.replace('\u{a0}', " "))
            .unwrap_or_default()
    }

    #[test]
    fn links_without_peers_are_named() {
        let mut job = synthetic::job();
        for family in &mut job.families {
            family.communicators.truncate(1);
        }
        let name = job.families[0].label.clone();
        let said = of(&job, "Slow links");
        assert!(said.contains("no two communicators"), "{said}");
        assert!(said.contains(&name), "{said}");
    }

    #[test]
    fn what_was_not_recorded_is_not_judged() {
        let mut job = synthetic::job();
        assert!(of(&job, "Pipeline stages").contains("how long Sends wait"));
        job.pairs.clear();
        assert!(of(&job, "Pipeline stages").contains("could not be judged"));
        job.communicators
            .iter_mut()
            .for_each(|c| c.collectives_complete = 0);
        assert!(of(&job, "Late ranks and hosts").contains("could not be judged"));
    }
}
