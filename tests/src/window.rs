//! The real window on a virtual screen, driven by WebDriver as a user would.

use crate::bus::Bus;
use crate::command::Bench;
use crate::programs;
use crate::{processes, screen::Screen};
use anyhow::{Context, Result, bail};
use fantoccini::actions::{
    InputSource, KeyAction, KeyActions, MOUSE_BUTTON_LEFT, MouseActions, PointerAction, TouchActions,
};
use fantoccini::elements::Element;
use fantoccini::error::CmdError;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit for anything to appear. Generous: a busy machine is slow, and a test that passes does not wait.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two checks.
const BLINK: Duration = Duration::from_millis(25);

/// A browser that opens pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Browser {
    WebKit,
    Chromium,
    Firefox,
}

impl Browser {
    /// All of them: one of each engine.
    pub const ALL: [Self; 3] = [Self::WebKit, Self::Chromium, Self::Firefox];

    /// Whether it can be started.
    pub fn is_installed(self) -> bool {
        self.program().is_some() && Command::new(self.driver()).arg("--version").output().is_ok()
    }

    /// Whether tests in it run here. Without it they are left out, with a message; in CI they fail.
    #[expect(clippy::print_stderr, reason = "a test that is left out says so")]
    pub fn is_to_be_tested(self) -> bool {
        let wanted = self.is_installed() || std::env::var_os("CI").is_some();
        if !wanted {
            eprintln!("NOT RUN: this system has no {self:?} with a driver");
        }
        wanted
    }

    fn program(self) -> Option<PathBuf> {
        match self {
            Self::WebKit => {
                let libraries = fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
                libraries.map(|folder| folder.join("webkit2gtk-4.1/MiniBrowser")).find(|path| path.is_file())
            }
            Self::Chromium => Some(PathBuf::from("/usr/lib/chromium/chromium")).filter(|path| path.is_file()),
            Self::Firefox => {
                Some(PathBuf::from("/usr/lib/firefox-esr/firefox-esr")).filter(|path| path.is_file())
            }
        }
    }

    fn driver(self) -> PathBuf {
        match self {
            Self::WebKit => "WebKitWebDriver".into(),
            Self::Chromium => "chromedriver".into(),
            Self::Firefox => programs::tool("geckodriver"),
        }
    }
}

/// How a window is started.
pub struct Start {
    browser: Browser,
    program: PathBuf,
    arguments: Vec<String>,
    bus: Option<String>,
    own_encoders: bool,
    hub: Option<String>,
    programs: Option<PathBuf>,
}

impl Start {
    /// The built window on its first page, or on `project`.
    pub fn new(project: Option<&Path>) -> Self {
        let arguments = project.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        Self { program: programs::window().to_owned(), arguments, ..Self::webkit() }
    }

    /// An installed window with a command line of its own. It uses the encoders that were installed with it.
    pub fn installed(program: &Path, arguments: Vec<String>) -> Self {
        Self { program: program.to_owned(), arguments, own_encoders: true, ..Self::webkit() }
    }

    fn webkit() -> Self {
        Self {
            browser: Browser::WebKit,
            program: PathBuf::new(),
            arguments: Vec::new(),
            bus: None,
            own_encoders: false,
            hub: None,
            programs: None,
        }
    }

    /// A browser without a page. What it stores is in the home of the bench, and with WebKit only until it is
    /// closed.
    ///
    /// # Errors
    /// It is not installed.
    pub fn browser(bench: &Bench, browser: Browser) -> Result<Self> {
        let missing = || format!("{browser:?} is missing: `cargo xtask test --only system`");
        let program = browser.program().with_context(missing)?;
        let profile = bench.path(&format!("home/{browser:?}").to_lowercase());
        fs::create_dir_all(&profile)?;
        let profile = profile.display();
        let arguments = match browser {
            Browser::WebKit => "--automation".to_owned(),
            Browser::Chromium => format!(
                "--headless=new --no-sandbox --no-first-run --disable-dev-shm-usage --user-data-dir={profile}"
            ),
            Browser::Firefox => format!("-headless -profile {profile}"),
        };
        let arguments = arguments.split(' ').map(str::to_owned).collect();
        Ok(Self { browser, program, arguments, ..Self::webkit() })
    }

    /// With one more argument of the command line.
    #[must_use]
    pub fn with_argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// With another address of the model hub.
    #[must_use]
    pub fn with_hub(mut self, address: &str) -> Self {
        self.hub = Some(address.to_owned());
        self
    }

    /// With a folder of programs that are found before those of the system.
    #[must_use]
    pub fn with_programs(mut self, folder: &Path) -> Self {
        self.programs = Some(folder.to_owned());
        self
    }

    /// With a message bus, on which a second window finds the first.
    #[must_use]
    pub fn on_bus(mut self, bus: &Bus) -> Self {
        self.bus = Some(bus.address().to_owned());
        self
    }
}

/// An open window of Dissensus.
pub struct Window {
    client: Option<Client>,
    driver: Driver,
    // Dropped after the driver, so that no program loses its screen before it is stopped.
    screen: Screen,
}

impl Window {
    /// Opens the window with the home of `bench`, on `project` or on its first page.
    ///
    /// # Errors
    /// Xvfb or WebKitWebDriver is missing (`cargo xtask test --only system`), or the window does not start.
    pub async fn open(bench: &Bench, project: Option<&Path>) -> Result<Self> {
        Self::start(bench, Start::new(project)).await
    }

    /// Opens a window with these settings; see [`Window::open`].
    pub async fn start(bench: &Bench, start: Start) -> Result<Self> {
        let screen = Screen::start()?;
        let driver = Driver::start(bench, &screen, &start)?;
        let client = driver.session(&start).await?;
        Ok(Self { client: Some(client), driver, screen })
    }

    /// The window's program, to be started a second time next to this window: same home, same screen.
    pub fn another(&self, bench: &Bench, start: &Start) -> Command {
        let mut command = Command::new(&start.program);
        command.args(&start.arguments);
        surroundings(&mut command, bench, &self.screen, start);
        command
    }

    /// Waits until the window's program has ended by itself.
    ///
    /// # Errors
    /// It has not after a while.
    pub async fn ended(mut self) -> Result<()> {
        self.driver.wait_for_the_end().await?;
        // The session has ended with the program: its client would only wait for an answer.
        self.client = None;
        Ok(())
    }

    /// The process of the window's program.
    ///
    /// # Errors
    /// It is not running.
    pub fn process(&self) -> Result<u32> {
        self.driver.program().context("the window's program is not running")
    }

    /// Saves a screenshot of the window as a PNG file.
    ///
    /// # Errors
    /// The window has gone, or the file cannot be written.
    pub async fn picture(&self, path: &Path) -> Result<()> {
        let png = self.answer("taking a picture", self.client()?.screenshot()).await?;
        fs::write(path, png).with_context(|| format!("writing {}", path.display()))
    }

    /// Closes the window as a person would, and waits until its program has ended.
    ///
    /// # Errors
    /// The program is still there after a while.
    pub async fn close(mut self) -> Result<()> {
        if let Some(client) = self.client.take() {
            let pid = self.driver.program();
            client.close_window().await?;
            self.driver.wait_for_the_end().await?;
            // Its first thread can be gone while others still hold the project's lock.
            pid.into_iter().for_each(processes::wait_for_the_end);
        }
        Ok(())
    }

    /// `kill -9` of the window's program; waits until it has ended and its locks are free.
    ///
    /// # Errors
    /// It is not running.
    pub fn kill(self) -> Result<()> {
        self.end(processes::kill)
    }

    /// Asks the window's program to end, as a system does that shuts down, and waits until it has.
    ///
    /// # Errors
    /// It is not running.
    pub fn terminate(self) -> Result<()> {
        self.end(processes::terminate)
    }

    fn end(mut self, by: impl Fn(u32)) -> Result<()> {
        let pid = self.process()?;
        by(pid);
        processes::wait_for_the_end(pid);
        // The session has ended with the program: its client would only wait for an answer.
        self.client = None;
        Ok(())
    }

    /// `kill -9` of the processes in which a browser runs its pages, as a system does that is short of
    /// memory; waits until they have ended. The browser itself stays.
    ///
    /// # Errors
    /// It has none.
    pub fn kill_pages(&self) -> Result<()> {
        let pages = processes::below(self.process()?).into_iter().filter(|pid| runs_pages(*pid));
        let pages: Vec<u32> = pages.collect();
        anyhow::ensure!(!pages.is_empty(), "no process runs pages");
        for pid in pages {
            processes::kill(pid);
            processes::wait_for_the_end(pid);
        }
        Ok(())
    }

    /// The driver's answer. The driver waits for a page that loads, and a page that never does would block it
    /// for ever.
    async fn answer<T>(&self, what: &str, question: impl Future<Output = Result<T, CmdError>>) -> Result<T> {
        match tokio::time::timeout(PATIENCE * 2, question).await {
            Ok(answer) => answer.with_context(|| what.to_owned()),
            Err(_) => {
                bail!("{what}: no answer; the driver printed:\n{}", fs::read_to_string(&self.driver.log)?)
            }
        }
    }

    fn client(&self) -> Result<&Client> {
        self.client.as_ref().context("the window is closed")
    }

    /// The element with this `data-testid`, as soon as it is there.
    ///
    /// # Errors
    /// It does not appear.
    pub async fn find(&self, id: &str) -> Result<Element> {
        let selector = by_id(id);
        let client = self.client()?;
        let looked = client.wait().at_most(PATIENCE).every(BLINK).for_element(Locator::Css(&selector));
        match self.answer("looking", looked).await {
            Ok(element) => Ok(element),
            Err(error) => {
                bail!("`{id}` does not appear ({error:#}); the page shows:\n{}", self.page().await?)
            }
        }
    }

    /// All elements with this `data-testid` that are present now.
    ///
    /// # Errors
    /// The window has gone.
    pub async fn all(&self, id: &str) -> Result<Vec<Element>> {
        self.answer("looking", self.client()?.find_all(Locator::Css(&by_id(id)))).await
    }

    /// Clicks the element, as soon as it is there.
    ///
    /// # Errors
    /// It does not appear, or cannot be clicked.
    pub async fn click(&self, id: &str) -> Result<()> {
        let start = Instant::now();
        loop {
            let element = self.find(id).await?;
            match self.answer(&format!("clicking `{id}`"), element.click()).await {
                // It may be rendered again between being found and being clicked.
                Err(_) if start.elapsed() < PATIENCE => tokio::time::sleep(BLINK).await,
                clicked => return clicked,
            }
        }
    }

    /// The text that the element shows, as soon as it is there.
    ///
    /// # Errors
    /// It does not appear.
    pub async fn text(&self, id: &str) -> Result<String> {
        let element = self.find(id).await?;
        Ok(self.answer("reading", element.text()).await?.trim().to_owned())
    }

    /// Waits until the element shows a text that `is_it` accepts, and returns it.
    ///
    /// # Errors
    /// It shows no such text in time.
    pub async fn text_when(&self, id: &str, is_it: impl Fn(&str) -> bool) -> Result<String> {
        let start = Instant::now();
        let mut last = String::new();
        while start.elapsed() < PATIENCE {
            // Read by a script, because an element may be rendered again between being found and being read.
            let text = self
                .script(&format!("return document.querySelector({:?})?.textContent ?? null", by_id(id)))
                .await?;
            if let Some(text) = text.as_str() {
                last = text.trim().to_owned();
                if is_it(&last) {
                    return Ok(last);
                }
            }
            tokio::time::sleep(BLINK).await;
        }
        bail!(
            "`{id}` shows {last:?}, which is not what was waited for; the page shows:\n{}",
            self.page().await?
        )
    }

    /// Presses and releases a key, wherever the focus is.
    ///
    /// # Errors
    /// The window has gone.
    pub async fn press(&self, key: char) -> Result<()> {
        let keys = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Up { value: key });
        self.answer("pressing a key", self.client()?.perform_actions(keys)).await
    }

    /// Presses a key while Control is held.
    ///
    /// # Errors
    /// The window has gone.
    pub async fn press_with_control(&self, key: char) -> Result<()> {
        const CONTROL: char = '\u{e009}';
        let keys = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value: CONTROL })
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Up { value: key })
            .then(KeyAction::Up { value: CONTROL });
        self.answer("pressing a key", self.client()?.perform_actions(keys)).await
    }

    /// Taps with a finger on a point of the page, in pixels from its top left.
    ///
    /// # Errors
    /// The window has gone, or has no touch screen.
    pub async fn tap(&self, [x, y]: [f64; 2]) -> Result<()> {
        let finger = TouchActions::new("finger".to_owned())
            .then(PointerAction::MoveTo { duration: None, x, y })
            .then(PointerAction::Down { button: 0 })
            .then(PointerAction::Up { button: 0 });
        self.answer("tapping", self.client()?.perform_actions(finger)).await
    }

    /// Clicks the control with this accessible name, as soon as it is there and nothing covers it.
    ///
    /// # Errors
    /// It does not appear, is covered, or another one has the same name.
    pub async fn click_named(&self, name: &str) -> Result<()> {
        let script = format!("{NAMED} return place({})", json!(name));
        let place = self.script_when(&script, Value::is_array).await?;
        let [x, y] = [0, 1].map(|at| place[at].as_f64().unwrap_or_default());
        let click = MouseActions::new("mouse".to_owned())
            .then(PointerAction::MoveTo { duration: None, x, y })
            .then(PointerAction::Down { button: MOUSE_BUTTON_LEFT })
            .then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
        self.answer(&format!("clicking {name:?}"), self.client()?.perform_actions(click)).await
    }

    /// Waits until `is_it` accepts the result of a script, and returns that.
    ///
    /// # Errors
    /// It does not in time.
    pub async fn script_when(&self, script: &str, is_it: impl Fn(&Value) -> bool) -> Result<Value> {
        let start = Instant::now();
        loop {
            let value = self.script(script).await?;
            if is_it(&value) {
                return Ok(value);
            }
            if start.elapsed() > PATIENCE {
                bail!("`{script}` gives {value}; the page shows:\n{}", self.page().await?);
            }
            tokio::time::sleep(BLINK).await;
        }
    }

    /// Waits until no element with this `data-testid` is there.
    ///
    /// # Errors
    /// It stays.
    pub async fn gone(&self, id: &str) -> Result<()> {
        let script = format!("return document.querySelector({:?}) === null", by_id(id));
        self.script_when(&script, |gone| gone == true).await.map(|_| ())
    }

    /// Types into the element that has the focus.
    ///
    /// # Errors
    /// The window has gone.
    pub async fn type_text(&self, text: &str) -> Result<()> {
        for key in text.chars() {
            self.press(key).await?;
        }
        Ok(())
    }

    /// Runs a script in the page and returns what it returns.
    ///
    /// # Errors
    /// The script throws.
    pub async fn script(&self, script: &str) -> Result<Value> {
        self.answer("running a script", self.client()?.execute(script, Vec::new())).await
    }

    /// A command of Chromium's DevTools, such as `Emulation.setCPUThrottlingRate`.
    ///
    /// # Errors
    /// The browser is another one, or refuses.
    pub async fn devtools(&self, command: &str, parameters: &Value) -> Result<()> {
        let session = self.client()?.session_id().await?.context("no session")?;
        let address = format!("http://127.0.0.1:{}/session/{session}/goog/cdp/execute", self.driver.port);
        let body = json!({ "cmd": command, "params": parameters }).to_string();
        ureq::post(&address).send(&body).with_context(|| command.to_owned())?;
        Ok(())
    }

    /// Makes the part of the window in which a page is shown this wide and high, in pixels.
    ///
    /// # Errors
    /// The window cannot be so small.
    pub async fn resize(&self, width: u32, height: u32) -> Result<()> {
        let client = self.client()?;
        let mut outer = (width, height);
        for _ in 0..2 {
            self.answer("resizing", client.set_window_size(outer.0, outer.1)).await?;
            let now = self.script("return [innerWidth, innerHeight]").await?;
            let [now_wide, now_high] = [0, 1].map(|at| now[at].as_u64().unwrap_or(0) as u32);
            if (now_wide, now_high) == (width, height) {
                return Ok(());
            }
            outer = (outer.0 + width - now_wide.min(width), outer.1 + height - now_high.min(height));
        }
        bail!(
            "the window is {} instead of {width} x {height}",
            self.script("return [innerWidth, innerHeight]").await?
        )
    }

    /// Opens a tab and goes to it; the one before stays open.
    ///
    /// # Errors
    /// The window has gone.
    pub async fn open_tab(&self) -> Result<()> {
        let tab = self.answer("opening a tab", self.client()?.new_window(true)).await?;
        self.answer("going to a tab", self.client()?.switch_to_window(tab.handle)).await
    }

    /// Closes the tab and goes back to the first one.
    ///
    /// # Errors
    /// The window has gone.
    pub async fn close_tab(&self) -> Result<()> {
        self.answer("closing a tab", self.client()?.close_window()).await?;
        let tabs = self.answer("listing the tabs", self.client()?.windows()).await?;
        let first = tabs.into_iter().next().context("no tab is left")?;
        self.answer("going to a tab", self.client()?.switch_to_window(first)).await
    }

    /// Goes to the page of this address.
    ///
    /// # Errors
    /// The window has gone.
    pub async fn go_to(&self, address: &str) -> Result<()> {
        self.answer("going to another page", self.client()?.goto(address)).await
    }

    /// Passes the window a path that a user would choose in the system's file dialog, which WebDriver cannot
    /// reach. The effect is visible in the page.
    ///
    /// # Errors
    /// The page has no such hook.
    pub async fn hand_over(&self, hook: &str, path: &Path) -> Result<()> {
        let script = format!("void window.__dissensus.{hook}(arguments[0])");
        let path = vec![json!(path.to_string_lossy())];
        self.answer(hook, self.client()?.execute(&script, path)).await?;
        Ok(())
    }

    /// The whole text of the page, for messages.
    async fn page(&self) -> Result<String> {
        let text = self.script("return document.body.innerText").await?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }
}

/// `place(name)`: the middle of the one control of that accessible name, if a click there reaches it.
const NAMED: &str = r#"
    const controls = () => [...document.querySelectorAll("button, input, a[href], [role=tab]")];
    const nameOf = (one) => (one.ariaLabel ?? one.innerText).trim();
    const place = (name) => {
        const found = controls().filter((one) => nameOf(one) === name && one.checkVisibility());
        if (found.length !== 1) return `${found.length} controls are called ${name}`;
        found[0].scrollIntoView({ block: "nearest" });
        const { left, top, width, height } = found[0].getBoundingClientRect();
        const middle = [Math.round(left + width / 2), Math.round(top + height / 2)];
        return found[0].contains(document.elementFromPoint(...middle)) ? middle : `${name} is covered`;
    };
"#;

fn by_id(id: &str) -> String {
    format!("[data-testid=\"{id}\"]")
}

/// A browser's driver, in a process group of its own together with the window and the browser's helpers.
struct Driver {
    process: Child,
    port: u16,
    /// The window's program.
    program: PathBuf,
    /// The window's home folder, which distinguishes it from others.
    home: String,
    /// Log of the driver and the window.
    log: PathBuf,
}

impl Driver {
    fn start(bench: &Bench, screen: &Screen, start: &Start) -> Result<Self> {
        let home = bench.path("home");
        fs::create_dir_all(&home)?;
        let port = free_port()?;
        let log = bench.path("driver.log");
        let output = fs::File::create(&log)?;
        let mut command = Command::new(start.browser.driver());
        command.arg(format!("--port={port}")).current_dir(bench.folder());
        surroundings(&mut command, bench, screen, start);
        let process = command
            .env("TAURI_AUTOMATION", "true")
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0)
            .spawn()
            .context("cannot start the driver: `cargo xtask test --only system` installs it")?;
        let program = start.program.clone();
        Ok(Self { process, port, program, home: home.to_string_lossy().into_owned(), log })
    }

    /// Waits until the window's program has ended.
    async fn wait_for_the_end(&self) -> Result<()> {
        let start = Instant::now();
        while self.program().is_some() {
            if start.elapsed() > PATIENCE {
                bail!("the window's program goes on");
            }
            tokio::time::sleep(BLINK).await;
        }
        Ok(())
    }

    async fn session(&self, start: &Start) -> Result<Client> {
        let options = json!({ "binary": self.program, "args": start.arguments });
        let request = match start.browser {
            Browser::WebKit => json!({ "webkitgtk:browserOptions": options }),
            Browser::Chromium => {
                json!({ "goog:chromeOptions": options, "unhandledPromptBehavior": "accept" })
            }
            Browser::Firefox => {
                json!({ "moz:firefoxOptions": options, "unhandledPromptBehavior": "accept" })
            }
        };
        let Value::Object(request) = request else { bail!("capabilities are an object") };
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(request);
        let address = format!("http://127.0.0.1:{}", self.port);
        let connect = async {
            loop {
                // The driver needs a moment until it listens.
                match builder.connect(&address).await {
                    Ok(client) => return client,
                    Err(_) => tokio::time::sleep(BLINK * 4).await,
                }
            }
        };
        match tokio::time::timeout(PATIENCE, connect).await {
            Ok(client) => Ok(client),
            Err(_) => {
                bail!("the window does not open; the driver printed:\n{}", fs::read_to_string(&self.log)?)
            }
        }
    }

    /// The process of the window's program, if it is running.
    fn program(&self) -> Option<u32> {
        let program = self.program.canonicalize().ok()?;
        let home = format!("DISSENSUS_HOME={}", self.home);
        fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let is_it = is_running(&entry.path(), &program);
            // A browser runs its pages in processes of the same program.
            let is_first = !is_running(Path::new(&format!("/proc/{}", processes::parent(pid)?)), &program);
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let ours = environment.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes());
            (is_it && is_first && ours).then_some(pid)
        })
    }
}

/// Whether this is a process in which a browser runs pages.
fn runs_pages(pid: u32) -> bool {
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    // A process may have written words over its own, with spaces between them.
    let mut words = command.split(|byte| [0, b' '].contains(byte));
    words.any(|word| [&b"--type=renderer"[..], b"tab"].contains(&word))
}

/// Whether the process of this folder of `/proc` runs the program.
fn is_running(process: &Path, program: &Path) -> bool {
    fs::read_link(process.join("exe")).is_ok_and(|running| running == program)
}

impl Drop for Driver {
    fn drop(&mut self) {
        processes::end_group(&mut self.process);
    }
}

/// The environment of the window: a screen, a home of its own, and nothing of the user's.
fn surroundings(command: &mut Command, bench: &Bench, screen: &Screen, start: &Start) {
    let home = bench.path("home");
    command
        .env("DISPLAY", screen.name())
        .env("GDK_BACKEND", "x11")
        .env_remove("WAYLAND_DISPLAY")
        // Either makes WebKit hang under a screen without a graphics card.
        .env_remove("WEBKIT_DISABLE_DMABUF_RENDERER")
        .env_remove("WEBKIT_DISABLE_COMPOSITING_MODE")
        .env("DISSENSUS_E2E", "1")
        .env("DISSENSUS_HOME", &home)
        // The web view stores its own files there.
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_CACHE_HOME", home.join("cache"));
    match &start.bus {
        Some(address) => command.env("DBUS_SESSION_BUS_ADDRESS", address),
        None => command.env_remove("DBUS_SESSION_BUS_ADDRESS"),
    };
    if let Some(hub) = &start.hub {
        command.env("HF_ENDPOINT", hub).env("HF_HOME", home.join("hub"));
    }
    if let Some(folder) = &start.programs {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(folder.clone()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(all).unwrap_or(path));
    }
    if start.own_encoders {
        command.env_remove("DISSENSUS_MODELS");
    } else {
        command.env("DISSENSUS_MODELS", bench.models());
    }
}

/// A free port. If another program takes it before the driver does, opening the window fails.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.port())
}
