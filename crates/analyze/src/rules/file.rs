//! A rules file, from TOML to [`Rules`].

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::spelling::meant;
use super::{Bandwidth, BandwidthOf, Check, GroupFilter, RankP99, Rule, Rules, Statistic, value};
use crate::facts::{CommClass, FindingKind, Severity};

/// What is wrong with a rules file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
#[non_exhaustive]
pub struct RuleError {
    /// Line in the file, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

const CHECKS: [&str; 4] = ["bandwidth", "rank_p99", "waiting", "finding"];
const COMMON: [&str; 3] = ["name", "check", "severity"];
const FILTER: [&str; 6] = [
    "class",
    "operation",
    "min_size",
    "max_size",
    "n_ranks",
    "nnodes",
];
const OPERATIONS: [&str; 11] = [
    "AllReduce",
    "AllGather",
    "ReduceScatter",
    "Broadcast",
    "Reduce",
    "SendRecv",
    "Send",
    "Recv",
    "All2All",
    "AllGatherV",
    "AllToAll",
];
const CLASSES: [CommClass; 4] = [
    CommClass::SingleRank,
    CommClass::NvlinkOnly,
    CommClass::HcaOnly,
    CommClass::Mixed,
];
const KINDS: [FindingKind; 15] = [
    FindingKind::LateRank,
    FindingKind::IntermittentLateRank,
    FindingKind::LateHost,
    FindingKind::SlowLink,
    FindingKind::StageImbalance,
    FindingKind::TcpRetransmits,
    FindingKind::LostRecords,
    FindingKind::MissingRanks,
    FindingKind::UnreadableInput,
    FindingKind::ClockSkew,
    FindingKind::MixedJobs,
    FindingKind::SampledDump,
    FindingKind::BandwidthMismatch,
    FindingKind::CpuTiming,
    FindingKind::TooLittleData,
];
const SEVERITIES: [Severity; 3] = [Severity::Info, Severity::Warning, Severity::Critical];
const STATISTICS: [(&str, Statistic); 8] = [
    ("min", Statistic::Min),
    ("p5", Statistic::P5),
    ("p25", Statistic::P25),
    ("p50", Statistic::P50),
    ("mean", Statistic::Mean),
    ("p75", Statistic::P75),
    ("p95", Statistic::P95),
    ("max", Statistic::Max),
];
const BANDWIDTHS: [(&str, BandwidthOf); 3] = [
    ("link", BandwidthOf::Link),
    ("felt", BandwidthOf::Felt),
    ("records", BandwidthOf::Records),
];

pub(super) fn parse(text: &str) -> Result<Rules, RuleError> {
    let lines = Lines(text);
    let root = DeTable::parse(text).map_err(|e| RuleError {
        line: e.span().map_or(1, |s| lines.of(&s)),
        message: e.message().to_owned(),
        hint: None,
    })?;
    let mut rules: Vec<Rule> = Vec::new();
    for (key, value) in root.as_ref() {
        if key.as_ref() != "rule" {
            return Err(unknown(
                lines.of(&key.span()),
                key.as_ref(),
                &["rule"],
                "key",
            ));
        }
        let list = value.as_ref().as_array().ok_or_else(|| RuleError {
            line: lines.of(&key.span()),
            message: "rules are written one below the other, each beginning with [[rule]]"
                .to_owned(),
            hint: None,
        })?;
        for entry in list {
            let line = lines.of(&entry.span());
            let table = entry.as_ref().as_table().ok_or_else(|| RuleError {
                line,
                message: "a rule is a table, beginning with [[rule]]".to_owned(),
                hint: None,
            })?;
            let rule = Reader { table, lines, line }.rule()?;
            if rules.iter().any(|r| r.name == rule.name) {
                return Err(RuleError {
                    line: rule.line,
                    message: format!("a second rule is called \"{}\"", rule.name),
                    hint: None,
                });
            }
            rules.push(rule);
        }
    }
    if rules.is_empty() {
        return Err(RuleError {
            line: 1,
            message: "there is no rule in it".to_owned(),
            hint: Some("a rule begins with [[rule]]".to_owned()),
        });
    }
    Ok(Rules { rules })
}

/// From byte offsets to line numbers.
#[derive(Clone, Copy)]
struct Lines<'a>(&'a str);

impl Lines<'_> {
    fn of(self, span: &Range<usize>) -> usize {
        let before = self.0.as_bytes().iter().take(span.start);
        1 + before.filter(|b| **b == b'\n').count()
    }
}

fn unknown(line: usize, word: &str, known: &[&str], what: &str) -> RuleError {
    let hint = match meant(word, known) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("known are {}", known.join(", ")),
    };
    RuleError {
        line,
        message: format!("unknown {what} \"{}\"", word.escape_debug()),
        hint: Some(hint),
    }
}

/// One rule's table.
struct Reader<'a> {
    table: &'a DeTable<'a>,
    lines: Lines<'a>,
    line: usize,
}

impl Reader<'_> {
    fn rule(&self) -> Result<Rule, RuleError> {
        let check = self.required(
            "check",
            "which is one of bandwidth, rank_p99, waiting, finding",
        )?;
        let check = match check.1.as_str() {
            "bandwidth" => {
                self.only(&[&FILTER[..], &["min_gbs", "statistic", "of"]].concat())?;
                Check::Bandwidth(self.bandwidth()?)
            }
            "rank_p99" => {
                self.only(
                    &[
                        &FILTER[..],
                        &["max_times_baseline", "max_times_peers", "max_us"],
                    ]
                    .concat(),
                )?;
                Check::RankP99(self.rank_p99()?)
            }
            "waiting" => {
                self.only(&["max_share"])?;
                Check::Waiting {
                    max_share: self.needed("max_share", value::share)?,
                }
            }
            "finding" => {
                self.only(&["kind", "min_share"])?;
                self.finding()?
            }
            other => return Err(unknown(check.0, other, &CHECKS, "check")),
        };
        let severities = SEVERITIES.map(|s| (s.as_str(), s));
        let name = self.required("name", "which the report shows when it is broken")?;
        Ok(Rule {
            name: name.1,
            severity: self
                .one_of("severity", &severities, "severity")?
                .unwrap_or(Severity::Warning),
            check,
            line: self.line,
        })
    }

    fn bandwidth(&self) -> Result<Bandwidth, RuleError> {
        Ok(Bandwidth {
            groups: self.groups()?,
            of: self
                .one_of("of", &BANDWIDTHS, "bandwidth")?
                .unwrap_or(BandwidthOf::Link),
            statistic: self
                .one_of("statistic", &STATISTICS, "statistic")?
                .unwrap_or(Statistic::P50),
            min_gbs: self.needed("min_gbs", value::above_zero)?,
        })
    }

    fn rank_p99(&self) -> Result<RankP99, RuleError> {
        let rule = RankP99 {
            groups: self.groups()?,
            max_times_baseline: self.get("max_times_baseline", value::above_zero)?,
            max_times_peers: self.get("max_times_peers", value::above_zero)?,
            max_us: self.get("max_us", value::above_zero)?,
        };
        if rule.max_times_baseline.is_none()
            && rule.max_times_peers.is_none()
            && rule.max_us.is_none()
        {
            return Err(RuleError {
                line: self.line,
                message: "the rule has no limit".to_owned(),
                hint: Some("give max_times_baseline, max_times_peers or max_us".to_owned()),
            });
        }
        Ok(rule)
    }

    fn finding(&self) -> Result<Check, RuleError> {
        let known = KINDS.map(FindingKind::as_str);
        let names = self.needed("kind", value::texts)?;
        let kind = |name: &String| {
            let at = known.iter().position(|k| k == name);
            at.map(|i| KINDS[i])
                .ok_or_else(|| unknown(self.line_of("kind"), name, &known, "kind of finding"))
        };
        Ok(Check::Finding {
            kinds: names.iter().map(kind).collect::<Result<_, _>>()?,
            min_share: self.get("min_share", value::share)?.unwrap_or(0.0),
        })
    }

    fn groups(&self) -> Result<GroupFilter, RuleError> {
        let names = CLASSES.map(CommClass::as_str);
        let class = |name: &String| {
            let at = names.iter().position(|k| k == name);
            at.map(|i| CLASSES[i])
                .ok_or_else(|| unknown(self.line_of("class"), name, &names, "class"))
        };
        let classes = self.get("class", value::texts)?.unwrap_or_default();
        let operations = self.get("operation", value::texts)?.unwrap_or_default();
        // Plugins to come may name others; a word that is nearly one of these is a slip.
        for word in &operations {
            let close = meant(word, &OPERATIONS).filter(|m| m != word);
            if !OPERATIONS.contains(&word.as_str()) && close.is_some() {
                return Err(unknown(
                    self.line_of("operation"),
                    word,
                    &OPERATIONS,
                    "operation",
                ));
            }
        }
        let filter = GroupFilter {
            classes: classes.iter().map(class).collect::<Result<_, _>>()?,
            operations,
            min_size: self.get("min_size", value::size)?,
            max_size: self.get("max_size", value::size)?,
            n_ranks: self.get("n_ranks", value::count)?,
            nnodes: self.get("nnodes", value::count)?,
        };
        if filter
            .min_size
            .zip(filter.max_size)
            .is_some_and(|(a, b)| a > b)
        {
            return Err(RuleError {
                line: self.line_of("max_size"),
                message: "max_size is below min_size".to_owned(),
                hint: None,
            });
        }
        Ok(filter)
    }

    /// Refuses keys that are neither common to all rules nor of this check.
    fn only(&self, of_check: &[&'static str]) -> Result<(), RuleError> {
        let known: Vec<&str> = COMMON.iter().chain(of_check).copied().collect();
        for key in self.table.keys() {
            if !known.contains(&key.as_ref().as_ref()) {
                return Err(unknown(
                    self.lines.of(&key.span()),
                    key.as_ref(),
                    &known,
                    "key",
                ));
            }
        }
        Ok(())
    }

    fn entry(&self, key: &str) -> Option<(usize, &Spanned<DeValue<'_>>)> {
        let (name, value) = self.table.iter().find(|(k, _)| k.as_ref() == key)?;
        Some((self.lines.of(&name.span()), value))
    }

    fn line_of(&self, key: &str) -> usize {
        self.entry(key).map_or(self.line, |e| e.0)
    }

    fn get<T>(
        &self,
        key: &str,
        read: impl Fn(&DeValue<'_>) -> Result<T, String>,
    ) -> Result<Option<T>, RuleError> {
        let Some((line, value)) = self.entry(key) else {
            return Ok(None);
        };
        read(value.as_ref()).map(Some).map_err(|e| RuleError {
            line,
            message: format!("{key}: {e}"),
            hint: None,
        })
    }

    fn needed<T>(
        &self,
        key: &str,
        read: impl Fn(&DeValue<'_>) -> Result<T, String>,
    ) -> Result<T, RuleError> {
        self.get(key, read)?.ok_or_else(|| RuleError {
            line: self.line,
            message: format!("the rule lacks \"{key}\""),
            hint: None,
        })
    }

    /// A text that must be there, and its line.
    fn required(&self, key: &str, what: &str) -> Result<(usize, String), RuleError> {
        let text = self.get(key, value::text)?.ok_or_else(|| RuleError {
            line: self.line,
            message: format!("the rule lacks \"{key}\", {what}"),
            hint: None,
        })?;
        Ok((self.line_of(key), text))
    }

    fn one_of<T: Copy>(
        &self,
        key: &str,
        known: &[(&str, T)],
        what: &str,
    ) -> Result<Option<T>, RuleError> {
        let Some(word) = self.get(key, value::text)? else {
            return Ok(None);
        };
        let names: Vec<&str> = known.iter().map(|k| k.0).collect();
        known
            .iter()
            .find(|k| k.0 == word)
            .map(|k| Some(k.1))
            .ok_or_else(|| unknown(self.line_of(key), &word, &names, what))
    }
}
