//! Embeds the page that a task packet can be written as. `ui` builds it.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> std::io::Result<()> {
    let built = Path::new("../../ui/dist-page/page.html");
    println!("cargo::rerun-if-changed={}", built.display());
    let page = match fs::read(built) {
        Ok(page) if page.trim_ascii_end().ends_with(b"</html>") => page,
        Ok(_) => return Err(std::io::Error::other("ui/dist-page/page.html is cut off: build it again")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("page.html"), page)
}
