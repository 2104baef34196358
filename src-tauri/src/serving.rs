//! The server on which people answer the packets of the open project in their browsers.

use dissensus_api::{InviteJoin, InviteRequest, Problem, ServedLink, ServingInfo};
use dissensus_app::session::Session;
use dissensus_project::error::ProjectError;
use dissensus_project::names::project_name;
use dissensus_project::sync::lock;
use dissensus_server::{LinkList, Merged, Offer, Server, ServerError, Settings, web_address};
use dissensus_transfer::study::{self, JoinRules, Link};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Problems that are listed. One that comes again is listed once.
const PROBLEMS: usize = 20;

/// The server, if one was started; at most one runs.
#[derive(Default)]
pub(crate) struct Serving(Mutex<Option<Started>>);

/// A server that runs, or that has ended by itself.
struct Started {
    /// The file of its project.
    project: PathBuf,
    /// Where it is reached in the network of this computer.
    address: String,
    /// What links begin with.
    public: String,
    /// Whether there is a link for everybody.
    joins: bool,
    stop: Arc<AtomicBool>,
    received: Arc<Mutex<Received>>,
    /// None while it is being stopped, and afterwards.
    thread: Option<JoinHandle<()>>,
}

/// What was merged since the start.
#[derive(Default)]
struct Received {
    /// New answers, changes and marks of each person, by external id.
    people: BTreeMap<String, u32>,
    problems: Vec<Problem>,
    /// Why it ended, other than by being stopped.
    ended: Option<Problem>,
}

impl Serving {
    /// Starts a server on a project. Its caller has it ended before the project is closed ([`Serving::end`]).
    ///
    /// # Errors
    /// One runs already; the request cannot be; the project is a packet, read-only or has nothing to answer;
    /// the port is in use.
    pub(crate) fn start(&self, session: &Session, request: &InviteRequest) -> Result<(), ProjectError> {
        if let Some(address) = self.running_at() {
            return Err(ServerError::Running(address).into());
        }
        let public = request.address.as_deref().map(web_address).transpose()?;
        let project = session.project.path().to_owned();
        let offer = Offer {
            title: project_name(&project),
            join: request.join.as_ref().map(rules),
            completion: request.completion.clone(),
        };
        offer.check(&session.study, &study::links(&session.study)?)?;
        let ip = if request.network { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::LOCALHOST };
        let listen = SocketAddr::from((ip, request.port));
        let settings = Settings { listen, behind_proxy: request.behind_proxy };
        let joins = offer.join.is_some();
        let server = Server::open(&session.study, settings, offer)?;
        let address = format!("http://{}", reached(server.address()?));
        let (stop, received) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Received::default())));
        let thread = {
            let (stop, received, project) = (Arc::clone(&stop), Arc::clone(&received), project.clone());
            let work = move || serve(server, &stop, &received, project);
            std::thread::Builder::new().name("server".to_owned()).spawn(work)
        }
        .map_err(|_| ProjectError::NoThread)?;
        let public = public.unwrap_or_else(|| address.clone());
        *lock(&self.0) =
            Some(Started { project, address, public, joins, stop, received, thread: Some(thread) });
        Ok(())
    }

    /// Where the server is reached that runs now.
    pub(crate) fn running_at(&self) -> Option<String> {
        let started = lock(&self.0);
        started.as_ref().filter(|started| started.ended().is_none()).map(|started| started.address.clone())
    }

    /// What the server of this project has received; `None` where none was started.
    ///
    /// # Errors
    /// The packets cannot be read.
    pub(crate) fn info(&self, session: &Session) -> Result<Option<ServingInfo>, ProjectError> {
        let started = lock(&self.0);
        let here = |started: &&Started| started.project.as_path() == session.project.path();
        let Some(started) = started.as_ref().filter(here) else { return Ok(None) };
        let links = study::links(&session.study)?;
        let ended = started.ended();
        let received = lock(&started.received);
        let link = |link: Link| ServedLink {
            link: link.at(&started.public),
            answered: received.people.get(&link.annotator).copied().unwrap_or_default(),
            annotator: link.annotator,
            texts: link.texts,
        };
        Ok(Some(ServingInfo {
            address: started.address.clone(),
            links: links.into_iter().map(link).collect(),
            join_link: started.joins.then(|| format!("{}/join", started.public)),
            received: received.people.values().sum(),
            problems: received.problems.clone(),
            ended,
        }))
    }

    /// Writes the links to a file, and returns how many there are.
    ///
    /// # Errors
    /// No server was started, or those of [`LinkList::write`].
    pub(crate) fn save_links(&self, session: &Session, file: &Path) -> Result<u32, ProjectError> {
        let started = lock(&self.0).as_ref().map(|started| (started.public.clone(), started.joins));
        let (address, joins) = started.ok_or(ServerError::NotRunning)?;
        let links = study::links(&session.study)?;
        let title = project_name(session.project.path());
        let list = LinkList { title: &title, address: &address, links: &links, joins };
        Ok(list.write(file)? as u32)
    }

    /// Stops the server and forgets it. All answers that were acknowledged are merged when this returns.
    ///
    /// # Errors
    /// Some could not be merged: the next start does it. The server is stopped nevertheless.
    pub(crate) fn stop(&self) -> Result<(), Problem> {
        // How it ended by itself was shown before.
        let ran = self.running_at().is_some();
        self.join();
        let started = lock(&self.0).take();
        match started.and_then(|started| started.ended()) {
            Some(problem) if ran => Err(problem),
            _ => Ok(()),
        }
    }

    /// Ends the server because its project is being closed, after merging what was acknowledged.
    pub(crate) fn end(&self) {
        self.join();
        if let Some(started) = lock(&self.0).as_ref() {
            let closed = || ProjectError::from(ServerError::ProjectClosed).problem();
            lock(&started.received).ended.get_or_insert_with(closed);
        }
    }

    /// Forgets a server that has ended: another project is open, or none.
    pub(crate) fn forget(&self) {
        let mut started = lock(&self.0);
        if started.as_ref().is_some_and(|started| started.ended().is_some()) {
            *started = None;
        }
    }

    /// Waits until the server has ended. Nothing is locked meanwhile, so that the window can still ask.
    fn join(&self) {
        let thread = lock(&self.0).as_mut().and_then(|started| {
            started.stop.store(true, Ordering::SeqCst);
            started.thread.take()
        });
        let panicked = thread.is_some_and(|thread| thread.join().is_err());
        if panicked && let Some(started) = lock(&self.0).as_ref() {
            lock(&started.received).ended = Some(panic_problem());
        }
    }
}

impl Started {
    fn ended(&self) -> Option<Problem> {
        // First, for its last act is to say why it ended.
        let silent = self.thread.as_ref().is_some_and(JoinHandle::is_finished);
        lock(&self.received).ended.clone().or_else(|| silent.then(panic_problem))
    }
}

impl Received {
    fn add(&mut self, merged: &Merged) {
        for person in &merged.people {
            *self.people.entry(person.annotator.clone()).or_default() += person.new;
        }
        for problem in merged.problems.iter().chain(&merged.notices) {
            self.problems.retain(|known| known != problem);
            self.problems.push(problem.clone());
        }
        self.problems.drain(..self.problems.len().saturating_sub(PROBLEMS));
    }
}

/// Serves until `stop`, on a thread of its own.
fn serve(server: Server, stop: &AtomicBool, received: &Mutex<Received>, project: PathBuf) {
    let served = server.serve(|| stop.load(Ordering::SeqCst), |merged| lock(received).add(merged));
    let ended: ProjectError = match served {
        Ok(0) => return,
        Ok(waiting) => ServerError::Waiting { submissions: waiting as u64, project }.into(),
        Err(error) => error,
    };
    lock(received).ended = Some(ended.problem());
}

/// The problem of a server that panicked.
fn panic_problem() -> Problem {
    ProjectError::Panicked { what: "the server", message: "the log says more".to_owned() }.problem()
}

fn rules(join: &InviteJoin) -> JoinRules {
    JoinRules {
        questions: Vec::new(),
        per_text: join.per_text,
        per_person: join.per_person,
        anchors: join.anchors,
        give_back: Duration::from_secs(u64::from(join.give_back_minutes) * 60),
    }
}

/// Where a server on all addresses is reached by others, as far as this computer knows.
fn reached(listen: SocketAddr) -> SocketAddr {
    match listen.ip().is_unspecified() {
        true => SocketAddr::new(own_address().unwrap_or(Ipv4Addr::LOCALHOST.into()), listen.port()),
        false => listen,
    }
}

/// The address of this computer in its network. Nothing is sent: the system says from which address it would.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // An address that belongs to nobody (RFC 5737).
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_app::Application;
    use dissensus_project::{home::Home, sample};
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    const JOIN: InviteJoin = InviteJoin { per_text: 3, per_person: 20, anchors: 0, give_back_minutes: 60 };

    fn request(join: Option<InviteJoin>) -> InviteRequest {
        let (address, completion) = (None, None);
        InviteRequest { network: false, port: 0, address, behind_proxy: false, join, completion }
    }

    /// An application with a project open, in a folder that goes with the test.
    fn opened() -> (tempfile::TempDir, Application) {
        let folder = tempfile::tempdir().unwrap();
        let app = Application::new(Home::inside(folder.path(), Vec::new()));
        let path = folder.path().join("Comments.dissensus");
        sample::create(&path).unwrap();
        app.open_project(&path.to_string_lossy()).unwrap();
        (folder, app)
    }

    fn front(host: &str) -> String {
        let mut connection = TcpStream::connect(host).unwrap();
        write!(connection, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[test]
    fn answers_until_it_is_stopped() {
        let (_folder, app) = opened();
        let (session, serving) = (app.open_session().unwrap(), Serving::default());
        serving.start(&session, &request(Some(JOIN))).unwrap();
        let info = serving.info(&session).unwrap().unwrap();
        assert_eq!(info.join_link, Some(format!("{}/join", info.address)));
        assert_eq!((info.received, info.ended, info.links.len()), (0, None, 0));
        let host = info.address.strip_prefix("http://").unwrap();
        assert!(front(host).starts_with("HTTP/1.1 200"));
        let again = serving.start(&session, &request(Some(JOIN))).unwrap_err();
        assert_eq!(again.code(), "server-running");
        serving.stop().unwrap();
        assert_eq!(serving.info(&session).unwrap(), None);
        TcpListener::bind(host).unwrap();
    }

    #[test]
    fn ends_before_its_project_is_closed() {
        let (_folder, app) = opened();
        let (session, serving) = (app.open_session().unwrap(), Arc::new(Serving::default()));
        serving.start(&session, &request(Some(JOIN))).unwrap();
        let host = serving.running_at().unwrap().replace("http://", "");
        let ended = Arc::clone(&serving);
        session.before_closing(move || ended.end());
        drop(session);
        app.alone(|_| Ok(())).unwrap();
        assert_eq!(serving.running_at(), None);
        TcpListener::bind(host).unwrap();
        let info = serving.info(&app.open_session().unwrap()).unwrap().unwrap();
        assert_eq!(info.ended.unwrap().code, "server-project-closed");
        serving.stop().unwrap();
    }

    #[test]
    fn nothing_starts_that_nobody_could_answer() {
        let (_folder, app) = opened();
        let (session, serving) = (app.open_session().unwrap(), Serving::default());
        let refused = |request: &InviteRequest| serving.start(&session, request).unwrap_err().code();
        assert_eq!(refused(&request(None)), "server-no-packets");
        assert_eq!(refused(&request(Some(InviteJoin { anchors: 20, ..JOIN }))), "join-anchors");
        assert_eq!(refused(&request(Some(InviteJoin { per_text: 0, ..JOIN }))), "plan-range");
        let address = Some("study.example.org".to_owned());
        assert_eq!(refused(&InviteRequest { address, ..request(Some(JOIN)) }), "server-web-address");
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert_eq!(refused(&InviteRequest { port, ..request(Some(JOIN)) }), "server-address");
        assert_eq!(serving.running_at(), None);
    }

    #[test]
    fn problem_that_comes_again_is_listed_once() {
        let problem = |n: usize| Problem { code: "io".into(), message: format!("{n}"), detail: None };
        let mut received = Received::default();
        for n in (0..30).chain([25, 25]) {
            received.add(&Merged { problems: vec![problem(n)], ..Merged::default() });
        }
        assert_eq!(received.problems.len(), PROBLEMS);
        assert_eq!(received.problems.last(), Some(&problem(25)));
    }
}
