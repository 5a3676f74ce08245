//! Shell completions.

use crate::program::Place;

#[test]
fn each_shell_gets_a_script_that_knows_the_subcommands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&["completions", shell]).ended_with(0).stdout;
        for word in ["nccl-report", "ingest", "analyze", "fail-on"] {
            assert!(script.contains(word), "{word} in the script of {shell}");
        }
    }
}

#[cfg(unix)]
#[test]
fn bash_accepts_its_script() {
    let place = Place::new();
    place
        .shell("\"$P\" completions bash > c && bash -n c")
        .ended_with(0);
}

#[test]
fn an_unknown_shell_is_wrong_usage() {
    Place::new().run(&["completions", "tcsh"]).ended_with(2);
}
