//! Why a server cannot start or go on.

use dissensus_project::error::ProjectError;
use dissensus_project::words::counted;
use std::net::SocketAddr;
use std::path::PathBuf;

dissensus_domain::errors! {
    /// Why a server cannot start or go on.
    #[derive(Debug)]
    pub enum ServerError {
        Address { address: SocketAddr, source: std::io::Error } => "server-address",
            "cannot listen on {address}: {source}. Choose another address or port of this computer (--listen), such as 127.0.0.1:8401";
        Ending(PathBuf) => "links-ending", "{0} must end in .csv or .html";
        InTheWay(PathBuf) => "links-in-the-way",
            "{0} exists and is no list of links: choose another name";
        NothingHandedOut => "server-no-packets",
            "nothing was handed out yet: assign texts first, with `dissensus study assign` (in the window: Plan a study), or let people join by one link (--join)";
        WebAddress => "server-web-address", "use an address such as https://study.example.org, without ? and #";
        Running(String) => "server-running",
            "people can answer at {0} already: stop that before you invite people anew";
        NotRunning => "server-not-running", "nobody can answer over the network now: invite people first";
        ProjectClosed => "server-project-closed",
            "nobody can answer any more: the project was closed and opened again. Start again; the links stay the same, and all answers that were acknowledged are stored";
        Waiting { submissions: u64, project: PathBuf } => "server-waiting",
            "{} could not be merged yet, and stays in {project}.received: the next start merges it" (counted(*.submissions, "submission"));
        Network(std::io::Error) => "server-network", "the network failed: {0}";
        LinkUnknown => "link-unknown", "this link leads nowhere";
        TooManyRequests => "too-many-requests", "too many requests: wait a minute";
        TooLarge => "too-large", "this is more than the server takes at once: hand it in as a file";
        BrokenOff => "request-broken-off", "only a part of this was received: send it again";
        TooSlow => "request-timeout", "this took too long to send or to answer: send it again";
        LinkForm => "link-form",
            "Dissensus knows no such link: it has the form dissensus://page?url=ADDRESS or dissensus://packet?url=ADDRESS";
        LinkTooLong(usize) => "link-too-long", "the link is longer than {0} bytes, and nothing was done with it";
        LinkAddress => "link-address", "the link leads to no web address: ask its sender for another one";
        LinkCredentials(String) => "link-credentials",
            "the address of the link has a name or password for {0} in it, which can hide where it leads: ask its sender for one without";
        LinkScheme => "link-scheme",
            "the link leads to an address that can be read on the way or is none of the web: it must begin with https:// (http:// only in your own network)";
        PacketStatus { host: String, status: u16 } => "packet-status",
            "{host} does not have the packet (HTTP status {status}): ask the sender of the link for another one";
        PacketRedirect(String) => "packet-redirect",
            "{0} leads to an address that may not be used: ask the sender of the link for another one";
        PacketBroken { host: String, reason: String } => "packet-broken-off",
            "downloading the packet from {host} failed: {reason}. Nothing was stored; try again";
        PacketTooLarge(String) => "packet-too-large",
            "{0} sends more than a packet can be, and nothing was stored: ask the sender of the link";
        NoPacket(String) => "packet-other-file",
            "what {0} sends is no Dissensus packet, and nothing was stored: ask the sender of the link for another one";
        PacketInTheWay(PathBuf) => "packet-in-the-way", "{0} exists already: choose another name";
        NoBrowser(String) => "no-browser",
            "no browser could be started: {0}. Copy the address and open it there";
        Misaddressed => "request-invalid", "this address is none to which a page sends answers";
    }
}

impl From<ServerError> for ProjectError {
    fn from(error: ServerError) -> Self {
        Self::refused(error.code(), &error, None)
    }
}
