//! Where batches are encoded: at once, or on a thread of its own while the next lines are read.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use parquet::errors::ParquetError;

use super::row_groups::{HashingFile, RowGroups};
use crate::table::{Batch, DictionaryPage};

/// Batches that wait: a few megabytes.
const WAITING: usize = 2;

/// Encodes the batches of a file.
pub(super) enum Encoder {
    Here(Box<RowGroups>),
    Apart(Apart),
}

/// On a thread of its own.
pub(super) struct Apart {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<Result<RowGroups, ParquetError>>>,
}

enum Job {
    Take(Vec<Batch>),
    EndGroup(Vec<Option<DictionaryPage>>),
}

impl Encoder {
    /// With `apart` on a thread of its own, if one can be had.
    pub(super) fn new(file: RowGroups, apart: bool) -> Self {
        if !apart {
            return Self::Here(Box::new(file));
        }
        let (jobs, todo) = sync_channel(WAITING);
        let (give, got) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("encoder".to_owned())
            .spawn(move || {
                let mut file: RowGroups = match got.recv() {
                    Ok(file) => file,
                    Err(_) => return Err(gone()),
                };
                for job in todo {
                    match job {
                        Job::Take(batch) => file.take(batch)?,
                        Job::EndGroup(dictionaries) => file.end_group(dictionaries)?,
                    }
                }
                Ok(file)
            });
        match thread {
            Ok(thread) => {
                // There is room for one, and it is being waited for.
                let _ = give.send(file);
                Self::Apart(Apart {
                    jobs: Some(jobs),
                    thread: Some(thread),
                })
            }
            Err(_) => Self::Here(Box::new(file)),
        }
    }

    /// As [`RowGroups::take`]; an error may come with a later call.
    pub(super) fn take(&mut self, batch: Vec<Batch>) -> Result<(), ParquetError> {
        match self {
            Self::Here(file) => file.take(batch),
            Self::Apart(apart) => apart.send(Job::Take(batch)),
        }
    }

    /// As [`RowGroups::end_group`]; an error may come with a later call.
    pub(super) fn end_group(
        &mut self,
        dictionaries: Vec<Option<DictionaryPage>>,
    ) -> Result<(), ParquetError> {
        match self {
            Self::Here(file) => file.end_group(dictionaries),
            Self::Apart(apart) => apart.send(Job::EndGroup(dictionaries)),
        }
    }

    /// As [`RowGroups::finish`].
    pub(super) fn finish(self) -> Result<HashingFile, ParquetError> {
        match self {
            Self::Here(file) => file.finish(),
            Self::Apart(mut apart) => apart.join()?.finish(),
        }
    }
}

impl Apart {
    fn send(&mut self, job: Job) -> Result<(), ParquetError> {
        match self.jobs.as_ref().map(|jobs| jobs.send(job)) {
            Some(Ok(())) => Ok(()),
            // The thread has ended with an error, which it keeps.
            _ => self.join().and(Err(gone())),
        }
    }

    fn join(&mut self) -> Result<RowGroups, ParquetError> {
        self.jobs = None;
        let thread = self.thread.take().ok_or_else(gone)?;
        thread.join().unwrap_or_else(|_| Err(gone()))
    }
}

impl Drop for Apart {
    /// Waits, so that a temporary file is gone before anyone hears that the work was given up.
    fn drop(&mut self) {
        // What came of it no longer matters.
        let _ = self.join();
    }
}

fn gone() -> ParquetError {
    ParquetError::General("the thread that encodes ended unexpectedly".to_owned())
}
