//! Why a command could not do its work, what may help, and the exit status.

use std::fmt;
use std::io::ErrorKind;

use nccl_report_ingest::Error as IngestError;

use crate::exit::Status;
use crate::help;

/// An expected failure: the user's input, disk or wish, never a bug.
#[derive(Debug)]
pub struct Failure {
    error: anyhow::Error,
    hints: Vec<String>,
    status: Status,
}

impl Failure {
    /// A failure in words: a lower-case fragment, "failed to …".
    pub fn new(message: impl fmt::Display) -> Self {
        Self::of(anyhow::anyhow!("{message}"))
    }

    /// A failure with its chain of causes.
    pub fn of(error: anyhow::Error) -> Self {
        let ingest = error.downcast_ref::<IngestError>();
        let status = match ingest {
            Some(IngestError::Cancelled) => Status::Interrupted,
            _ => Status::Unusable,
        };
        let hints = ingest.map(hints_of).unwrap_or_default();
        Self {
            error,
            hints,
            status,
        }
    }

    /// Adds what may help.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says what it is about, where the message alone doesn't.
    pub fn about(self, what: impl fmt::Display) -> Self {
        Self {
            error: self.error.context(what.to_string()),
            ..self
        }
    }

    /// Why, without what it is about.
    pub fn cause(&self) -> String {
        self.error.root_cause().to_string()
    }

    /// How the program ends.
    pub const fn status(&self) -> Status {
        self.status
    }

    /// What may help, in order.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Stopped by Ctrl-C.
    pub fn interrupted() -> Self {
        Self::from(IngestError::Cancelled)
    }
}

/// The whole chain on one line. A cause that the message before it already quotes isn't repeated.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.error.to_string();
        for cause in self.error.chain().skip(1) {
            let cause = cause.to_string();
            if !text.contains(&cause) {
                text.push_str(": ");
                text.push_str(&cause);
            }
        }
        f.write_str(&text)
    }
}

/// Any error of the libraries, so that `?` works in commands.
impl<E: std::error::Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::of(anyhow::Error::new(error))
    }
}

fn hints_of(error: &IngestError) -> Vec<String> {
    match error {
        IngestError::Input { path, source } if source.kind() == ErrorKind::NotFound => {
            match path.to_str().filter(|p| help::SUBCOMMANDS.contains(p)) {
                Some(name) => vec![format!(
                    "`{name}` is a subcommand only as the first argument; a folder of that name is `./{name}`"
                )],
                None => vec![format!(
                    "give the folder that {} named, or files in it",
                    help::DUMP_DIR
                )],
            }
        }
        IngestError::Input { source, .. } if source.kind() == ErrorKind::PermissionDenied => {
            vec!["it must be readable by the user that runs nccl-report".to_owned()]
        }
        IngestError::Write { .. } => {
            vec!["--out names another folder".to_owned()]
        }
        IngestError::NotADataset { .. } => {
            vec!["start again from the logs: nccl-report ingest LOGS... --out DIR".to_owned()]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_cause_that_the_message_quotes_is_not_repeated() {
        let failure = Failure::from(IngestError::Input {
            path: PathBuf::from("/logs"),
            source: io::Error::new(ErrorKind::NotFound, "no such thing"),
        });
        assert_eq!(failure.to_string(), "failed to read /logs: no such thing");
        assert_eq!(failure.status(), Status::Unusable);
    }

    #[test]
    fn a_cause_that_the_message_lacks_is_appended() {
        let cause = io::Error::other("disk on fire");
        let failure = Failure::of(anyhow::Error::new(cause).context("failed to write /out"));
        assert_eq!(failure.to_string(), "failed to write /out: disk on fire");
    }

    #[test]
    fn an_interrupt_has_the_status_that_shells_expect() {
        assert_eq!(Failure::interrupted().status().code(), 130);
    }
}
