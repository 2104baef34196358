//! Shows the user guide in a window of its own: web pages from a folder of the package or of the build.

use dissensus_api::Problem;
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use tauri::http::{Request, Response, StatusCode, header};
use tauri::{AppHandle, Manager as _, Url, WebviewUrl, WebviewWindowBuilder};

/// The scheme under which the window asks for pages.
pub(crate) const SCHEME: &str = "guide";
/// The window's label.
const WINDOW: &str = "guide";
/// The first size, in logical pixels.
const SIZE: (f64, f64) = (1000.0, 760.0);

/// Opens the guide, or brings its window to the front.
pub(crate) fn open(app: &AppHandle) -> Result<(), Problem> {
    if let Some(window) = app.get_webview_window(WINDOW) {
        return window.unminimize().and_then(|()| window.set_focus()).map_err(no_window);
    }
    if folder(app).is_none() {
        return Err(Problem {
            code: "no-guide".into(),
            message: "This build has no user guide. In a checkout, `cargo xtask book` makes it.".into(),
            detail: None,
        });
    }
    // The system's web view cannot have schemes of its own everywhere: on Windows and Android they are hosts.
    let address = if cfg!(any(windows, target_os = "android")) {
        format!("http://{SCHEME}.localhost/index.html")
    } else {
        format!("{SCHEME}://localhost/index.html")
    };
    let address = Url::parse(&address).map_err(no_window)?;
    let (scheme, host) = (address.scheme().to_owned(), address.host_str().map(str::to_owned));
    WebviewWindowBuilder::new(app, WINDOW, WebviewUrl::CustomProtocol(address))
        .title("Dissensus: user guide")
        .inner_size(SIZE.0, SIZE.1)
        .zoom_hotkeys_enabled(true)
        // Nothing outside the guide is shown in its window.
        .on_navigation(move |url| url.scheme() == scheme && url.host_str() == host.as_deref())
        .build()
        .map_err(no_window)?;
    Ok(())
}

/// Answers a request for a page, a picture or a script of the guide.
pub(crate) fn answer(app: &AppHandle, request: &Request<Vec<u8>>) -> Response<Cow<'static, [u8]>> {
    let file = folder(app).and_then(|folder| Some(folder.join(within(request.uri().path())?)));
    let content = file.as_deref().and_then(|file| std::fs::read(file).ok());
    let (status, content) = match content {
        Some(content) => (StatusCode::OK, content),
        None => (StatusCode::NOT_FOUND, b"There is no such page.".to_vec()),
    };
    let mut response = Response::new(Cow::Owned(content));
    *response.status_mut() = status;
    let kind = header::HeaderValue::from_static(kind_of(file.as_deref()));
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Where the built guide is.
fn folder(app: &AppHandle) -> Option<PathBuf> {
    let packed = app.path().resource_dir().ok().map(|resources| resources.join("book"));
    // In a checkout the program is in `debug` or `release` of the target folder, next to the folder `book`.
    let program = std::env::current_exe().ok();
    let built = program.as_deref().and_then(|program| Some(program.parent()?.parent()?.join("book")));
    [packed, built].into_iter().flatten().find(|folder| folder.join("index.html").is_file())
}

/// The path within the folder that a request names; `None` if it is outside.
fn within(path: &str) -> Option<&Path> {
    let path = Path::new(path.trim_start_matches('/'));
    path.components().all(|part| matches!(part, Component::Normal(_))).then_some(path)
}

fn kind_of(file: Option<&Path>) -> &'static str {
    match file.and_then(|file| file.extension()?.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "text/plain; charset=utf-8",
    }
}

fn no_window(error: impl std::fmt::Display) -> Problem {
    Problem {
        code: "no-guide".into(),
        message: "The window of the user guide could not be opened.".into(),
        detail: Some(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_stays_in_the_folder() {
        assert_eq!(within("/how-to/import.html"), Some(Path::new("how-to/import.html")));
        assert_eq!(within("/../secret"), None);
        assert_eq!(within("/a/../../secret"), None);
    }

    #[test]
    fn pages_and_pictures_have_media_types() {
        assert_eq!(kind_of(Some(Path::new("index.html"))), "text/html; charset=utf-8");
        assert_eq!(kind_of(Some(Path::new("a/b.png"))), "image/png");
        assert_eq!(kind_of(None), "text/plain; charset=utf-8");
    }
}
