//! A folder of dumps and a dataset beside it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::{Dataset, Error, NoProgress, Options, Progress, ingest};

/// Both folders; they vanish when dropped.
pub(super) struct Job {
    folder: tempfile::TempDir,
    pub(super) options: Options,
}

impl Job {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let logs = folder.path().join("logs");
        std::fs::create_dir(&logs).expect("made");
        let options = Options {
            inputs: vec![logs],
            dataset: folder.path().join("out/parquet"),
            exclude: Vec::new(),
            compression_level: 1,
            share: None,
            cancel: Default::default(),
        };
        Self { folder, options }
    }

    pub(super) fn root(&self) -> &Path {
        &self.options.dataset
    }

    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.options.inputs[0].join(name)
    }

    pub(super) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.log(name);
        std::fs::create_dir_all(path.parent().expect("inside")).expect("made");
        std::fs::write(path, content).expect("written");
    }

    pub(super) fn run(&self) -> Dataset {
        self.try_run(&NoProgress).expect("ingested")
    }

    pub(super) fn try_run(&self, progress: &dyn Progress) -> Result<Dataset, Error> {
        ingest(&self.options, progress)
    }

    /// Every file under the dataset's folder but the lock, by relative path.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        walkdir::WalkDir::new(self.root())
            .into_iter()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| {
                let name = entry.path().strip_prefix(self.root()).expect("inside");
                let content = std::fs::read(entry.path()).expect("read");
                (name.to_string_lossy().into_owned(), content)
            })
            .filter(|(name, _)| name != ".nccl-report.lock")
            .collect()
    }

    pub(super) fn parquet_files(&self) -> Vec<String> {
        let names = self.files().into_keys();
        names.filter(|name| name != "manifest.json").collect()
    }
}

/// A dump of one process with so many collectives.
pub(super) fn dump(pid: u32, collectives: u32) -> String {
    lines(pid, 0..collectives)
}

pub(super) fn lines(pid: u32, sns: std::ops::Range<u32>) -> String {
    let mut text = String::new();
    for sn in sns {
        let stamp = 1_700_000_000_000_000_u64 + u64::from(sn) * 1000;
        writeln!(
            text,
            r#"{{"header":{{"id":"0xabc","rank":{pid},"n_ranks":64,"nnodes":1}},"metadata":{{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":{stamp},"hostname":"gpu-1","pid":{pid}}},"coll_perf":{{"coll":"AllReduce","coll_sn":{sn},"coll_msg_size_bytes":1048576,"coll_exec_time_us":39,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":26.886564,"coll_busbw_gbs":47.051487}}}}"#
        )
        .expect("text");
    }
    text
}

/// The same as Send records.
pub(super) fn sends(pid: u32, count: u32) -> String {
    dump(pid, count)
        .replace("\"coll\":\"AllReduce\"", "\"p2p\":\"Send\",\"p2p_peer\":1")
        .replace("coll_", "p2p_")
}

pub(super) fn gzip(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text.as_ref()).expect("written");
    gzip.finish().expect("finished")
}

pub(super) fn rows(dataset: &Dataset) -> u64 {
    let files = dataset.files().iter().flat_map(|file| &file.tables);
    files.map(|table| table.rows).sum()
}

pub(super) fn skipped(dataset: &Dataset) -> Vec<(&str, &str)> {
    let files = dataset.inputs().files_skipped.iter();
    files
        .map(|f| (f.path.as_str(), f.reason.as_str()))
        .collect()
}
