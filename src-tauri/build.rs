//! Compiles the window's configuration and permissions into the binary.

fn main() {
    let windows = tauri_build::WindowsAttributes::new().app_manifest(include_str!("windows/app.manifest"));
    let attributes = tauri_build::Attributes::new().windows_attributes(windows);
    if let Err(error) = tauri_build::try_build(attributes) {
        panic!("the window's configuration cannot be compiled: {error:#}");
    }
}
