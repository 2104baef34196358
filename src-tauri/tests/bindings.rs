//! The generated TypeScript is up to date with the commands.

use specta_typescript::Typescript;
use std::path::Path;

/// Set `DISSENSUS_WRITE_BINDINGS=1` to write the file instead of comparing it.
#[test]
fn typescript_bindings_are_up_to_date() {
    let kept_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/src/api/bindings.ts");
    let folder = tempfile::tempdir().unwrap();
    let made_in = folder.path().join("bindings.ts");
    dissensus_window::bindings::builder().export(Typescript::default(), &made_in).unwrap();
    let made = std::fs::read_to_string(&made_in).unwrap();
    if std::env::var_os("DISSENSUS_WRITE_BINDINGS").is_some() {
        std::fs::write(&kept_in, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&kept_in).unwrap_or_default();
    assert!(
        kept == made,
        "ui/src/api/bindings.ts is out of date: run DISSENSUS_WRITE_BINDINGS=1 cargo test -p dissensus-window"
    );
}
