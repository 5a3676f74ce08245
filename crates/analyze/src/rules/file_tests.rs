use super::{Bandwidth, BandwidthOf, Check, GroupFilter, RankP99, Rules, Statistic};
use crate::facts::{CommClass, FindingKind, Severity};

#[test]
fn every_key_is_read() {
    let rules = Rules::parse(
        r#"
# The floor of our fabric.
[[rule]]
name = "network floor"
check = "bandwidth"
severity = "critical"
class = ["hca-only", "mixed"]
operation = "AllReduce"
min_size = "64 MiB"
max_size = 1_073_741_824
n_ranks = 4
nnodes = 2
of = "felt"
statistic = "p5"
min_gbs = 38.5

[[rule]]
name = "tails"
check = "rank_p99"
max_times_baseline = 1.5
max_times_peers = 3
max_us = 9_000

[[rule]]
name = "waiting"
check = "waiting"
max_share = 0.3
severity = "info"

[[rule]]
name = "no stragglers"
check = "finding"
kind = ["late_rank", "late_host"]
min_share = 0.01
"#,
    )
    .expect("rules")
    .rules;
    let groups = GroupFilter {
        classes: vec![CommClass::HcaOnly, CommClass::Mixed],
        operations: vec!["AllReduce".into()],
        min_size: Some(64 << 20),
        max_size: Some(1 << 30),
        n_ranks: Some(4),
        nnodes: Some(2),
    };
    assert_eq!(
        (rules[0].name.as_str(), rules[0].severity, rules[0].line),
        ("network floor", Severity::Critical, 3)
    );
    assert_eq!(
        rules[0].check,
        Check::Bandwidth(Bandwidth {
            groups,
            of: BandwidthOf::Felt,
            statistic: Statistic::P5,
            min_gbs: 38.5
        })
    );
    assert_eq!(
        rules[1].check,
        Check::RankP99(RankP99 {
            groups: GroupFilter::default(),
            max_times_baseline: Some(1.5),
            max_times_peers: Some(3.0),
            max_us: Some(9_000.0)
        })
    );
    assert_eq!(rules[1].severity, Severity::Warning);
    assert_eq!(rules[2].check, Check::Waiting { max_share: 0.3 });
    assert_eq!(
        rules[3].check,
        Check::Finding {
            kinds: vec![FindingKind::LateRank, FindingKind::LateHost],
            min_share: 0.01
        }
    );
}

/// What is wrong is told with its line and, where it can be guessed, what was meant.
#[test]
fn mistakes_are_told_with_their_line() {
    let rule = "[[rule]]\nname = \"a\"\n";
    for (text, line, message, hint) in [
        ("", 1, "there is no rule", "[[rule]]"),
        ("[[rule]\n", 1, "", ""),
        ("\n\nrules = 1\n", 3, "unknown key \"rules\"", "\"rule\""),
        ("rule = 3\n", 1, "[[rule]]", ""),
        ("rule = [3]\n", 1, "a rule is a table", ""),
        ("[[rule]]\nname = \"a\"\n", 1, "lacks \"check\"", ""),
        (
            "\n[[rule]]\ncheck = \"waiting\"\nmax_share = 0.1\n",
            2,
            "lacks \"name\"",
            "",
        ),
        (
            &format!("{rule}check = \"bandwith\"\n"),
            3,
            "unknown check \"bandwith\"",
            "\"bandwidth\"",
        ),
        (
            &format!("{rule}check = \"waiting\"\nmin_gbs = 3\n"),
            4,
            "unknown key \"min_gbs\"",
            "known are",
        ),
        (
            &format!("{rule}check = \"bandwidth\"\nmin_gb = 3\n"),
            4,
            "unknown key \"min_gb\"",
            "\"min_gbs\"",
        ),
        (
            &format!("{rule}check = \"bandwidth\"\n"),
            1,
            "lacks \"min_gbs\"",
            "",
        ),
        (
            &format!("{rule}check = \"bandwidth\"\nmin_gbs = \"x\"\n"),
            4,
            "min_gbs: a number",
            "",
        ),
        (
            &format!("{rule}check = \"bandwidth\"\nmin_gbs = nan\n"),
            4,
            "min_gbs: a number",
            "",
        ),
        (
            &format!("{rule}check = \"bandwidth\"\nmin_gbs = 1\nclass = \"hca_only\"\n"),
            5,
            "unknown class",
            "\"hca-only\"",
        ),
        (
            &format!("{rule}check = \"bandwidth\"\nmin_gbs = 1\noperation = \"Allreduce\"\n"),
            5,
            "unknown operation",
            "\"AllReduce\"",
        ),
        (
            &format!("{rule}check = \"bandwidth\"\nmin_gbs = 1\nmin_size = \"big\"\n"),
            5,
            "a size is wanted",
            "",
        ),
        (
            &format!("{rule}check = \"bandwidth\"\nmin_gbs = 1\nmin_size = 9\nmax_size = 8\n"),
            6,
            "below min_size",
            "",
        ),
        (
            &format!("{rule}check = \"rank_p99\"\n"),
            1,
            "no limit",
            "max_us",
        ),
        (
            &format!("{rule}check = \"waiting\"\nmax_share = 30\n"),
            4,
            "0.3 for 30 %",
            "",
        ),
        (
            &format!("{rule}check = \"finding\"\nkind = \"late-ranks\"\n"),
            4,
            "unknown kind of finding",
            "\"late_rank\"",
        ),
        (
            &format!("{rule}check = \"finding\"\nkind = []\n"),
            4,
            "an empty list",
            "",
        ),
        (
            &format!("{rule}severity = \"error\"\ncheck = \"waiting\"\nmax_share = 1\n"),
            3,
            "unknown severity",
            "critical",
        ),
        (&format!("{rule}name = \"b\"\n"), 3, "duplicate key", ""),
        (
            &format!(
                "{rule}check = \"waiting\"\nmax_share = 1\n{rule}check = \"waiting\"\nmax_share = 1\n"
            ),
            5,
            "second rule",
            "",
        ),
    ] {
        let error = Rules::parse(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
        assert!(
            error.hint.clone().unwrap_or_default().contains(hint),
            "{text}: {error:?}"
        );
    }
}

#[test]
fn no_text_makes_it_panic() {
    let start =
        "[[rule]]\nname = \"a\"\ncheck = \"bandwidth\"\nmin_gbs = 3\nmin_size = \"1 MiB\"\n";
    for cut in 0..start.len() {
        let _ = Rules::parse(&start[..cut]);
    }
    for odd in [
        "\u{0}",
        "[[rule]]\nname = 99999999999999999999999\n",
        "[[rule]]\n\"\" = 1\n",
        "rule = {}\n",
        "a.b.c = 1\n",
    ] {
        assert!(Rules::parse(odd).is_err(), "{odd}");
    }
}
