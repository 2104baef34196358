//! Creates the one window and remembers its size and position.

use crate::closing::{self, ClosingRequest};
use crate::download::{Download, PacketDownload};
use crate::guide;
use crate::launch::Launch;
use crate::opening::{self, Requests, WINDOW};
use crate::state::WindowState;
use crate::update_check::UpdateCheck;
use dissensus_app::Application;
use dissensus_project::home::Home;
use std::error::Error;
use tauri::{App, AppHandle, Manager as _, RunEvent, WebviewUrl, WebviewWindowBuilder, WindowEvent};

/// Minimum size at which every view still works, in logical pixels.
const SMALLEST: (f64, f64) = (760.0, 520.0);
/// Initial size of the first window, in logical pixels; later ones restore their last size.
const FIRST: (f64, f64) = (1280.0, 800.0);

/// Space for a window's title and borders, in logical pixels.
const FRAME: f64 = 48.0;

/// Runs the application until its window closes.
pub(crate) fn run(launch: Launch) -> Result<(), Box<dyn Error>> {
    let bindings = crate::bindings::builder();
    let handler = bindings.invoke_handler();
    let mut builder = tauri::Builder::default();
    if let Some(single) = single_instance(&launch) {
        // The first plugin, so that a second start exits before it does anything.
        builder = builder.plugin(single);
    }
    builder
        .plugin(tauri_plugin_dialog::init())
        .plugin(place_keeper(&launch))
        .invoke_handler(handler)
        .register_uri_scheme_protocol(guide::SCHEME, |context, request| {
            guide::answer(context.app_handle(), &request)
        })
        .setup(move |app| {
            bindings.mount_events(app);
            let resources = app.path().resource_dir().ok();
            let home = Home::of_user(resources.as_deref())?;
            dissensus_project::log::start_log(&home, None)?;
            app.manage(WindowState::new(Application::new(home)));
            app.manage(ClosingRequest::default());
            app.manage(Download::default());
            app.manage(PacketDownload::default());
            app.manage(UpdateCheck::default());
            app.manage(Requests::new(launch.wanted.clone()));
            open_window(app, &launch)?;
            close_on_signal(app);
            Ok(())
        })
        .build(tauri::generate_context!())?
        .run(on_event);
    Ok(())
}

fn on_event(app: &AppHandle, event: RunEvent) {
    match event {
        RunEvent::WindowEvent { label, event: WindowEvent::CloseRequested { api, .. }, .. }
            if label == WINDOW =>
        {
            closing::requested(app, &api);
        }
        // The user guide closes with the window from which it was opened.
        RunEvent::WindowEvent { label, event: WindowEvent::Destroyed, .. } if label == WINDOW => app.exit(0),
        // A double click on a file or a link, on the only system that does not start the program with it.
        #[cfg(target_os = "macos")]
        RunEvent::Opened { urls } => {
            if let Some(wanted) = crate::launch::Wanted::from_addresses(&urls) {
                opening::open(app, wanted);
            }
        }
        // Confirmed data is on disk already; this ends jobs and releases the file's lock.
        RunEvent::Exit => app.state::<WindowState>().close_for_exit(),
        _ => {}
    }
}

/// One window for each settings folder: a second start passes what to open to the first and exits. On Linux
/// this needs a session message bus; without one, each start opens a window of its own.
fn single_instance(launch: &Launch) -> Option<tauri::plugin::TauriPlugin<tauri::Wry>> {
    use tauri_plugin_single_instance::Builder;
    let builder =
        Builder::new().callback(|app, arguments, folder| opening::second_start(app, arguments, &folder));
    match &launch.home {
        None => Some(builder.build()),
        Some(home) if cfg!(target_os = "linux") => Some(builder.dbus_id(bus_name(home)).build()),
        // On other systems the name cannot be chosen,
        // and separate settings folders are for tests and trials.
        Some(_) => None,
    }
}

/// Name on the message bus for a separate settings folder.
fn bus_name(home: &std::path::Path) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    home.hash(&mut hasher);
    format!("org.dissensus.window.home{:016x}", hasher.finish())
}

/// Logging out and shutting down send SIGTERM or SIGHUP: the project is closed as when the window is, so
/// that its one file is complete. (Systems without signals ask the window itself.)
fn close_on_signal(app: &App) {
    let handle = app.handle().clone();
    // If there is a handler already, confirmed data is safe in the journal next to the file.
    let _ = ctrlc::set_handler(move || handle.exit(0));
}

/// Prints to stderr why there is no window; there is no other output.
#[allow(clippy::print_stderr)] // this is the program's last word before it exits
pub(crate) fn explain_on_stderr(error: &dyn Error) {
    eprintln!("dissensus-window: {error}");
    let mut cause = error.source();
    while let Some(inner) = cause {
        eprintln!("  because: {inner}");
        cause = inner.source();
    }
}

/// Remembers size and position, in a file next to the settings.
fn place_keeper(launch: &Launch) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    use tauri_plugin_window_state::{Builder, StateFlags};
    let flags = StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN;
    let builder = Builder::new().with_state_flags(flags);
    match &launch.home {
        // The plugin joins it to the system's folder; an absolute path replaces that.
        Some(home) => builder.with_filename(home.join("window.json").to_string_lossy()).build(),
        None => builder.with_filename("window.json").build(),
    }
}

fn open_window(app: &App, launch: &Launch) -> tauri::Result<()> {
    let first = first_size(app.primary_monitor()?.map(|m| {
        let size = m.work_area().size.to_logical::<f64>(m.scale_factor());
        (size.width, size.height)
    }));
    let mut window = WebviewWindowBuilder::new(app, WINDOW, WebviewUrl::default())
        .title("Dissensus")
        .inner_size(first.0, first.1)
        .min_inner_size(SMALLEST.0, SMALLEST.1)
        .zoom_hotkeys_enabled(true)
        .center();
    if launch.test_hooks {
        window = window.initialization_script(TEST_HOOKS);
    }
    window.build()?;
    Ok(())
}

/// Size of the first window in logical pixels: smaller if the screen has no room for it and its frame.
fn first_size(screen: Option<(f64, f64)>) -> (f64, f64) {
    let fit = |wanted: f64, room: f64, least: f64| wanted.min(room - FRAME).max(least);
    screen
        .map_or(FIRST, |(width, height)| (fit(FIRST.0, width, SMALLEST.0), fit(FIRST.1, height, SMALLEST.1)))
}

/// Script that enables test mode in the page (see `ui/src/stores/test-hooks.ts`). WebDriver controls the
/// page, but not the system's file dialog: in test mode the page has functions that take a path instead.
const TEST_HOOKS: &str = "window.__DISSENSUS_E2E__ = true;";

#[cfg(test)]
mod tests {
    use super::{FIRST, SMALLEST, first_size};

    #[test]
    fn first_window_fits_the_screen() {
        assert_eq!(first_size(None), FIRST);
        assert_eq!(first_size(Some((1920.0, 1080.0))), FIRST);
        assert_eq!(first_size(Some((1024.0, 768.0))), (976.0, 720.0));
        assert_eq!(first_size(Some((640.0, 480.0))), SMALLEST);
    }
}
