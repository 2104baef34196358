//! Compiles the window's configuration and permissions into the binary.

fn main() {
    tauri_build::build();
}
