//! Running the program in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// The program's path.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_nccl-report");

/// A folder to run in, which goes with the value.
pub struct Place {
    folder: TempDir,
}

/// What a run gave.
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub status: Option<i32>,
}

impl Place {
    pub fn new() -> Self {
        Self {
            folder: TempDir::new().expect("a temporary folder"),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, with the folders it needs.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(&path, text).expect("a file");
        path
    }

    /// The program, about to run here, in an environment that asks for nothing.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.folder.path()).args(args);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program here.
    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().expect("the program runs"))
    }

    /// Runs a line of `sh` here, in which `$P` is the program.
    #[cfg(unix)]
    pub fn shell(&self, line: &str) -> Run {
        let output = std::process::Command::new("sh")
            .args(["-c", line])
            .current_dir(self.folder.path())
            .env("P", PROGRAM)
            .output();
        Run::of(output.expect("sh runs"))
    }

    /// Every file below a folder, relative to it.
    pub fn files(&self, name: &str) -> Vec<String> {
        let root = self.path(name);
        let mut found = Vec::new();
        collect(&root, &root, &mut found);
        found.sort();
        found
    }
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
            status: output.status.code(),
        }
    }

    /// Fails the test unless the program ended with this status.
    #[track_caller]
    pub fn ended_with(self, status: i32) -> Self {
        assert_eq!(
            self.status,
            Some(status),
            "\nstdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).expect("JSON on stdout")
    }
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, found);
        } else {
            let relative = path.strip_prefix(root).expect("below the root");
            found.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
}
