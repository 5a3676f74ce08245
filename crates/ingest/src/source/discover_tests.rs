use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;

fn tree(files: &[&str]) -> TempDir {
    let root = TempDir::new().expect("temporary folder");
    for file in files {
        put(root.path(), file, "x");
    }
    root
}

fn put(root: &Path, file: &str, content: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().expect("has a parent")).expect("makes folders");
    fs::write(path, content).expect("writes");
}

fn names(inputs: &[PathBuf], exclude: &[PathBuf]) -> Vec<String> {
    let found = discover(inputs, exclude).expect("inputs exist");
    assert_eq!(found.skipped, []);
    found.files.into_iter().map(|file| file.name).collect()
}

#[test]
fn folders_recursively_and_by_name() {
    let root = tree(&[
        "b.log",
        "a/z.jsonl.gz",
        "a/notes.txt",
        "a/b/c.json",
        "c.log.1",
        "README",
    ]);
    assert_eq!(
        names(&[root.path().to_owned()], &[]),
        ["a/b/c.json", "a/z.jsonl.gz", "b.log", "c.log.1"]
    );
}

#[test]
fn a_named_file_is_taken_whatever_it_is_called_and_once() {
    let root = tree(&["dump", "a.log"]);
    let dump = root.path().join("dump");
    let inputs = [
        dump.clone(),
        root.path().to_owned(),
        root.path().join("a.log"),
        dump,
    ];
    assert_eq!(names(&inputs, &[]), ["a.log", "dump"]);
}

#[test]
fn same_names_below_two_inputs_are_told_apart() {
    let root = tree(&["run1/x.log", "run2/x.log", "run2/y.log"]);
    let inputs = [root.path().join("run1"), root.path().join("run2")];
    assert_eq!(names(&inputs, &[]), ["run1/x.log", "run2/x.log", "y.log"]);
    let inputs = [
        root.path().join("run1/x.log"),
        root.path().join("run2/x.log"),
    ];
    assert_eq!(names(&inputs, &[]), ["run1/x.log", "run2/x.log"]);
}

#[test]
fn the_order_of_inputs_changes_nothing() {
    let root = tree(&["run1/x.log", "run2/x.log", "run1/a.log"]);
    let (one, two) = (root.path().join("run1"), root.path().join("run2"));
    let forth = discover(&[one.clone(), two.clone()], &[]).expect("inputs exist");
    let back = discover(&[two, one], &[]).expect("inputs exist");
    assert_eq!(forth, back);
}

#[test]
fn a_missing_input_is_an_error() {
    let root = tree(&[]);
    let missing = root.path().join("nowhere");
    assert!(matches!(
        discover(std::slice::from_ref(&missing), &[]),
        Err(Error::Input { path, .. }) if path == missing
    ));
}

#[test]
fn our_own_output_is_never_searched() {
    let root = tree(&[
        "a.log",
        "out/x.log",
        "old/report.json",
        "old/sub/x.json",
        "set/x.log",
    ]);
    put(
        root.path(),
        "old/parquet/manifest.json",
        "{\"schema\":\"nccl-report-dataset/1\"}",
    );
    put(
        root.path(),
        "set/manifest.json",
        "{\"schema\":\"nccl-report-dataset/1\"}",
    );
    // Somebody else's manifest marks nothing.
    put(root.path(), "other/manifest.json", "{\"name\":\"web\"}");
    put(root.path(), "other/b.log", "x");
    let out = root.path().join("out");
    assert_eq!(
        names(&[root.path().to_owned()], &[out]),
        ["a.log", "other/b.log", "other/manifest.json"]
    );
}

#[test]
fn a_report_written_into_the_folder_of_the_dumps_hides_only_itself() {
    let root = tree(&["a.log", "sub/b.log", "report.json", "parquet/x.json"]);
    put(
        root.path(),
        "parquet/manifest.json",
        "{\"schema\":\"nccl-report-dataset/1\"}",
    );
    let folder = root.path().to_owned();
    assert_eq!(
        names(std::slice::from_ref(&folder), std::slice::from_ref(&folder)),
        ["a.log", "sub/b.log"]
    );
}

#[test]
fn packed_in_another_way_is_named() {
    let root = tree(&["a.log.zst", "b.tar.zst"]);
    let found = discover(&[root.path().to_owned()], &[]).expect("exists");
    assert_eq!(found.files, []);
    assert_eq!(found.skipped.len(), 1);
    assert_eq!(found.skipped[0].path, "a.log.zst");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_are_followed_without_loops_and_nothing_is_taken_twice() {
        let root = tree(&["job/a.log", "elsewhere/deep/b.log", "z.log"]);
        let logs = root.path().join("job");
        symlink(&logs, logs.join("loop")).expect("links");
        symlink(root.path().join("elsewhere"), logs.join("0link")).expect("links");
        symlink(root.path().join("elsewhere"), logs.join("1link")).expect("links");
        symlink(root.path().join("elsewhere/deep/b.log"), logs.join("0.log")).expect("links");
        symlink(root.path().join("z.log"), logs.join("z.log")).expect("links");
        fs::hard_link(logs.join("a.log"), logs.join("hard.log")).expect("links");
        assert_eq!(names(&[logs], &[]), ["0.log", "a.log", "z.log"]);
    }

    #[test]
    fn the_real_name_wins_over_a_link() {
        let root = tree(&["job_2/a.log"]);
        symlink(root.path().join("job_2"), root.path().join("current")).expect("links");
        assert_eq!(names(&[root.path().to_owned()], &[]), ["job_2/a.log"]);
        // A link that is named itself is followed.
        assert_eq!(names(&[root.path().join("current")], &[]), ["a.log"]);
    }

    #[test]
    fn broken_links_and_forbidden_folders_are_named_and_the_rest_goes_on() {
        let root = tree(&["a.log", "locked/b.log"]);
        symlink(root.path().join("gone"), root.path().join("gone.log")).expect("links");
        symlink(root.path().join("gone"), root.path().join("gone.txt")).expect("links");
        let locked = root.path().join("locked");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).expect("locks");
        let found = discover(&[root.path().to_owned()], &[]).expect("exists");
        let forbidden = fs::read_dir(&locked).is_err();
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).expect("unlocks");
        let skipped: Vec<&str> = found.skipped.iter().map(|s| s.path.as_str()).collect();
        if forbidden {
            assert_eq!(skipped, ["gone.log", "locked"]);
            assert_eq!(found.skipped[1].reason, "permission denied");
            assert!(found.skipped[1].is_unreadable());
        } else {
            // The superuser may look into everything.
            assert_eq!(skipped, ["gone.log"]);
        }
        assert_eq!(found.files[0].name, "a.log");
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_not_opened() {
    let root = tree(&["a.log"]);
    std::os::unix::fs::symlink("/dev/zero", root.path().join("zero.log")).expect("a link");
    std::os::unix::fs::symlink("/dev/zero", root.path().join("zero.txt")).expect("a link");
    let found = discover(&[root.path().to_owned()], &[]).expect("found");
    assert_eq!(found.files.len(), 1);
    let skipped: Vec<_> = found.skipped.iter().map(|s| s.path.as_str()).collect();
    assert_eq!(skipped, ["zero.log"]);
    assert!(discover(&["/dev/zero".into()], &[]).is_err());
}
