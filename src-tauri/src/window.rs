//! Makes the one window and keeps its size and place.

use crate::launch::Launch;
use crate::state::WindowState;
use dissensus_workbench::Workbench;
use std::error::Error;
use std::path::PathBuf;
use tauri::{App, Manager as _, WebviewUrl, WebviewWindowBuilder};

/// The smallest window in which every view still works, in logical pixels.
const SMALLEST: (f64, f64) = (760.0, 520.0);
/// The first window, in logical pixels; later ones are as they were left.
const FIRST: (f64, f64) = (1280.0, 800.0);

/// Runs the application until its window closes.
pub(crate) fn run(launch: Launch) -> Result<(), Box<dyn Error>> {
    let bindings = crate::bindings::builder();
    let handler = bindings.invoke_handler();
    tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .plugin(place_keeper(&launch))
        .invoke_handler(handler)
        .setup(move |app| {
            bindings.mount_events(app);
            let workbench = Workbench::new(model_folders(app))?;
            app.manage(WindowState::new(workbench));
            open_window(app, &launch)?;
            app.manage(launch);
            Ok(())
        })
        .run(tauri::generate_context!())?;
    Ok(())
}

/// Says on stderr why there is no window; there is nowhere else to say it.
#[allow(clippy::print_stderr)] // this is the program's last word before it exits
pub(crate) fn explain_on_stderr(error: &dyn Error) {
    eprintln!("dissensus-window: {error}");
    let mut cause = error.source();
    while let Some(inner) = cause {
        eprintln!("  because: {inner}");
        cause = inner.source();
    }
}

/// Where an installed application has its encoders.
fn model_folders(app: &App) -> Vec<PathBuf> {
    app.path().resource_dir().map(|folder| folder.join("models")).into_iter().collect()
}

/// Remembers size and place, beside the settings.
fn place_keeper(launch: &Launch) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    use tauri_plugin_window_state::{Builder, StateFlags};
    let flags = StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN;
    let builder = Builder::new().with_state_flags(flags);
    match &launch.home {
        // Joined to the system's folder by the plugin; an absolute path replaces it.
        Some(home) => builder.with_filename(home.join("window.json").to_string_lossy()).build(),
        None => builder.with_filename("window.json").build(),
    }
}

fn open_window(app: &App, launch: &Launch) -> tauri::Result<()> {
    let mut window = WebviewWindowBuilder::new(app, "main", WebviewUrl::default())
        .title("Dissensus")
        .inner_size(FIRST.0, FIRST.1)
        .min_inner_size(SMALLEST.0, SMALLEST.1)
        .center();
    if launch.test_hooks {
        window = window.initialization_script(TEST_HOOKS);
    }
    window.build()?;
    Ok(())
}

/// Tells the page that it is being tested (see `ui/src/lib/test-hooks.ts`). WebDriver drives the page, but not the
/// system's file dialog: with this set the page offers functions that take a path in its stead.
const TEST_HOOKS: &str = "window.__DISSENSUS_E2E__ = true;";
