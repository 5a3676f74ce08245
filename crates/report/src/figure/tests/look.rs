//! Figures for human eyes: `NCCL_REPORT_FIGURES=/tmp/figures cargo test -p nccl-report-render look -- --ignored`.

use super::super::{all, synthetic};

#[test]
#[ignore = "writes figures to the folder NCCL_REPORT_FIGURES, to be looked at"]
fn look() {
    let folder =
        std::env::var_os("NCCL_REPORT_FIGURES").expect("NCCL_REPORT_FIGURES names a folder");
    for (name, job) in [
        ("r1", synthetic::job(1, 1, synthetic::plain)),
        ("r16", synthetic::job(2, 8, synthetic::plain)),
        ("hostile", synthetic::job(4, 4, synthetic::hostile)),
        ("r128", synthetic::job(16, 8, synthetic::plain)),
        ("r4096", synthetic::job(512, 8, synthetic::plain)),
    ] {
        let folder = std::path::Path::new(&folder).join(name);
        std::fs::create_dir_all(&folder).expect("folder");
        for figure in all(&job) {
            std::fs::write(folder.join(format!("{}.svg", figure.id)), &figure.svg)
                .expect("written");
        }
    }
}
