//! What a screen reader learns about the window: the tree and the events of the accessibility bus (AT-SPI),
//! which Orca reads.

use crate::bus::Bus;
use anyhow::{Context as _, Result, bail};
use atspi_connection::AccessibilityConnection;
use atspi_connection::common::events::object::{ChildrenChangedEvent, StateChangedEvent, TextChangedEvent};
use atspi_connection::common::events::{Event, ObjectEvents};
use atspi_connection::common::object_ref::ObjectRefOwned;
use atspi_connection::common::{Interface, InterfaceSet, Operation, Role, State, StateSet};
use atspi_proxies::accessible::{AccessibleProxy, ObjectRefExt as _};
use atspi_proxies::bus::BusProxy;
use atspi_proxies::proxy_ext::ProxyExt as _;
use futures_lite::StreamExt as _;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zbus::connection::Builder;
use zbus::zvariant::OwnedObjectPath;

/// Time limit for anything to be announced.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two looks, and how long nothing is announced once all has been.
const QUIET: Duration = Duration::from_millis(300);
/// So many entries of a list are recorded; how many more there are depends on the size of the window.
const MOST: usize = 5;
/// The place of an object within a text.
const OBJECT: char = '\u{fffc}';

/// States that are read out.
const STATES: [(State, &str); 12] = [
    (State::Focused, "focused"),
    (State::Checked, "checked"),
    (State::Pressed, "pressed"),
    (State::Selected, "selected"),
    (State::Expanded, "expanded"),
    (State::Collapsed, "collapsed"),
    (State::Busy, "busy"),
    (State::Required, "required"),
    (State::InvalidEntry, "invalid"),
    (State::ReadOnly, "read-only"),
    (State::Modal, "modal"),
    (State::HasPopup, "opens a list"),
];

/// An object of the window, with those in it in reading order.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    role: Role,
    /// Which landmark it is, if one: `main`, `navigation`, ...
    landmark: String,
    name: String,
    description: String,
    /// Its text, with [`OBJECT`] for each of its children.
    text: String,
    value: Option<f64>,
    states: StateSet,
    enabled: bool,
    children: Vec<Self>,
}

impl Item {
    /// What is read out of it, without its children.
    fn words(&self) -> String {
        let role = if self.landmark.is_empty() { self.role.name() } else { &self.landmark };
        let mut words = role.to_owned();
        if !self.name.is_empty() {
            words += &format!(" \"{}\"", self.name);
        }
        if self.has_words() {
            words += &format!(": {}", self.text.replace(OBJECT, "*"));
        }
        words += &self.value.map(|value| format!(" = {value}")).unwrap_or_default();
        for (_, state) in STATES.iter().filter(|(state, _)| self.states.contains(*state)) {
            words += &format!(", {state}");
        }
        if !self.enabled {
            words += ", unavailable";
        }
        if !self.description.is_empty() && self.description != self.name && self.description != self.text {
            words += &format!(" ({})", self.description);
        }
        words
    }

    /// Whether it has a text of its own, other than its name. The text of a section with others in it
    /// is theirs, that of a list is its name.
    fn has_words(&self) -> bool {
        let is_theirs =
            self.role == Role::ComboBox || self.role == Role::Section && !self.children.is_empty();
        !is_theirs && self.text.chars().any(char::is_alphanumeric) && self.text != self.name
    }

    /// Whether a screen reader says anything when it gets to it.
    fn is_read(&self) -> bool {
        let holds_others = matches!(
            self.role,
            Role::Section | Role::Paragraph | Role::Panel | Role::Filler | Role::Static | Role::Form
        );
        !holds_others || self.has_words() || !self.name.is_empty() || self.states.contains(State::Focused)
    }

    /// All that is read, a line for each, the inner below the outer.
    fn lines(&self, depth: usize, lines: &mut Vec<String>) {
        let inner = if self.is_read() {
            lines.push(format!("{}{}", "  ".repeat(depth), self.words()));
            depth + 1
        } else {
            depth
        };
        let are_rows = self.children.iter().all(|child| child.role == Role::ListItem);
        let shown = if are_rows { self.children.len().min(MOST) } else { self.children.len() };
        for child in &self.children[..shown] {
            child.lines(inner, lines);
        }
        if shown < self.children.len() {
            lines.push(format!("{}and more", "  ".repeat(inner)));
        }
    }

    /// It and all in it.
    fn all(&self) -> Vec<&Self> {
        std::iter::once(self).chain(self.children.iter().flat_map(Self::all)).collect()
    }

    /// All that is read, in reading order.
    pub fn record(&self) -> String {
        let mut lines = Vec::new();
        self.lines(0, &mut lines);
        lines.join("\n")
    }

    /// The landmark of this kind in it.
    pub fn landmark(&self, kind: &str) -> Option<&Self> {
        self.all().into_iter().find(|one| one.landmark == kind)
    }

    /// The dialog in it.
    pub fn dialog(&self) -> Option<&Self> {
        self.all().into_iter().find(|one| one.role == Role::Dialog)
    }

    /// What of it is read as nothing: controls that have no name, or one without a letter or digit.
    pub fn nameless(&self) -> Vec<String> {
        let is_nameless = |one: &&Self| {
            one.states.contains(State::Focusable) && !one.name.chars().any(char::is_alphanumeric)
        };
        self.all().into_iter().filter(is_nameless).map(Self::words).collect()
    }

    /// What has the focus: the innermost, as the document that holds it says so too.
    pub fn focused(&self) -> Option<String> {
        self.all().into_iter().rfind(|one| one.states.contains(State::Focused)).map(Self::words)
    }
}

/// Something that the window announced without being asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Announced {
    /// What got the focus.
    Focus(String),
    /// What appeared in a live region.
    Live(String),
}

/// A listener on the accessibility bus.
pub struct Reader {
    bus: AccessibilityConnection,
    announced: Arc<Mutex<Vec<Announced>>>,
}

impl Reader {
    /// Begins to listen, before the window opens.
    ///
    /// # Errors
    /// There is no accessibility bus (`cargo xtask test --only system` installs it).
    pub async fn start(bus: &Bus) -> Result<Self> {
        let session = Builder::address(bus.address())?.build().await?;
        let address = BusProxy::new(&session).await?.get_address().await;
        let address =
            address.context("no accessibility bus: `cargo xtask test --only system` installs it")?;
        let bus = AccessibilityConnection::from_address(address.parse()?).await?;
        // A connection of their own: while events wait to be looked at, no answer would come in on theirs.
        let events = AccessibilityConnection::from_address(address.parse()?).await?;
        events.register_event::<StateChangedEvent>().await?;
        events.register_event::<TextChangedEvent>().await?;
        events.register_event::<ChildrenChangedEvent>().await?;
        let announced = Arc::new(Mutex::new(Vec::new()));
        tokio::spawn(listen(events, bus.clone(), Arc::clone(&announced)));
        Ok(Self { bus, announced })
    }

    /// The page of the window, once it stays as it is and has what `is_it` wants in its record.
    ///
    /// # Errors
    /// It does not come to that.
    pub async fn page_when(&self, is_it: impl Fn(&str) -> bool) -> Result<Item> {
        let start = Instant::now();
        let mut before = None;
        loop {
            // An object may go while it is read.
            let now = self.page().await;
            match (&before, now) {
                (Some(before), Ok(now)) if now == *before && is_it(&now.record()) => return Ok(now),
                (_, now) if start.elapsed() > PATIENCE => {
                    bail!("the page is read as\n{}", now?.record());
                }
                (_, now) => before = now.ok(),
            }
            tokio::time::sleep(QUIET).await;
        }
    }

    /// All that the window announced since the last call, once `is_it` was among it and nothing more comes.
    ///
    /// # Errors
    /// It is not announced.
    pub async fn announced_when(&self, is_it: impl Fn(&Announced) -> bool) -> Result<Vec<Announced>> {
        let start = Instant::now();
        let mut before = 0;
        loop {
            let announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if announced.len() == before && announced.iter().any(&is_it) {
                return Ok(std::mem::take(
                    &mut *self.announced.lock().unwrap_or_else(PoisonError::into_inner),
                ));
            }
            if start.elapsed() > PATIENCE {
                bail!("the window announced only {announced:#?}");
            }
            before = announced.len();
            tokio::time::sleep(QUIET).await;
        }
    }

    /// The page as it is now.
    async fn page(&self) -> Result<Item> {
        let bus = self.bus.connection();
        let mut left = vec![self.bus.root_accessible_on_registry().await?];
        while let Some(object) = left.pop() {
            if object.get_role().await? == Role::DocumentWeb {
                return read(bus, object).await;
            }
            for index in 0..object.child_count().await? {
                // The page is of another process, whose name is none that a reference of the library holds.
                let child: (String, OwnedObjectPath) =
                    object.inner().call("GetChildAtIndex", &(index,)).await?;
                left.push(AccessibleProxy::builder(bus).destination(child.0)?.path(child.1)?.build().await?);
            }
        }
        bail!("the window shows no page on the accessibility bus")
    }
}

/// An object with all in it.
fn read<'a>(
    bus: &'a zbus::Connection,
    object: AccessibleProxy<'a>,
) -> Pin<Box<dyn Future<Output = Result<Item>> + Send + 'a>> {
    Box::pin(async move {
        let mut item = alone(&object).await?;
        for child in object.get_children().await? {
            item.children.push(read(bus, child.into_accessible_proxy(bus).await?).await?);
        }
        Ok(item)
    })
}

/// An object without its children.
async fn alone(object: &AccessibleProxy<'_>) -> Result<Item> {
    let interfaces: InterfaceSet = object.get_interfaces().await?;
    let states = object.get_state().await?;
    let proxies = object.proxies().await?;
    let text = if interfaces.contains(Interface::Text) {
        proxies.text().await?.get_text(0, -1).await?
    } else {
        String::new()
    };
    let value = if interfaces.contains(Interface::Value) {
        Some(proxies.value().await?.current_value().await?)
    } else {
        None
    };
    let role = object.get_role().await?;
    let mut attributes = object.get_attributes().await?;
    let landmark = match role {
        Role::Landmark => attributes.remove("xml-roles").unwrap_or_default(),
        _ => String::new(),
    };
    Ok(Item {
        role,
        landmark,
        name: object.name().await?,
        description: object.description().await?,
        text: text.split_whitespace().collect::<Vec<_>>().join(" "),
        value,
        states,
        enabled: states.contains(State::Enabled) || states.contains(State::Sensitive),
        children: Vec::new(),
    })
}

/// Notes what is announced until the bus ends.
async fn listen(
    events: AccessibilityConnection,
    bus: AccessibilityConnection,
    announced: Arc<Mutex<Vec<Announced>>>,
) {
    let events = events.event_stream();
    futures_lite::pin!(events);
    while let Some(event) = events.next().await {
        // Its element may have gone since.
        if let Ok(Event::Object(event)) = event
            && let Ok(Some(one)) = heard(bus.connection(), event).await
        {
            announced.lock().unwrap_or_else(PoisonError::into_inner).push(one);
        }
    }
}

/// What a screen reader says upon an event.
async fn heard(bus: &zbus::Connection, event: ObjectEvents) -> Result<Option<Announced>> {
    Ok(match event {
        ObjectEvents::StateChanged(event) if event.state == State::Focused && event.enabled => {
            let object = event.item.as_accessible_proxy(bus).await?;
            Some(Announced::Focus(alone(&object).await?.words()))
        }
        ObjectEvents::TextChanged(event) if event.operation == Operation::Insert => {
            live(bus, &event.item, &event.text).await?
        }
        ObjectEvents::ChildrenChanged(event) if event.operation == Operation::Insert => {
            let child = event.child.as_accessible_proxy(bus).await?;
            live(bus, &event.child, &alone(&child).await?.text).await?
        }
        _ => None,
    })
}

/// The words, if they stand in a live region.
async fn live(bus: &zbus::Connection, object: &ObjectRefOwned, words: &str) -> Result<Option<Announced>> {
    let attributes = object.as_accessible_proxy(bus).await?.get_attributes().await?;
    let has = |key: &str, value: &str| attributes.get(key).is_some_and(|one| one == value);
    // A tooltip is the description of what has the focus, and read with that.
    let is_live = attributes.contains_key("container-live")
        && !has("container-live", "off")
        && !has("container-live-role", "tooltip");
    let words = words.replace(OBJECT, "");
    Ok((is_live && !words.trim().is_empty()).then(|| Announced::Live(words.trim().to_owned())))
}
