//! Personal links: task packets that are answered over a network.

use super::{Study, page, submission};
use crate::study::error::StudyError;
use dissensus_domain::{Language, Packet, PacketId};
use dissensus_files::PrivateFolder;
use dissensus_project::error::ProjectError;
use dissensus_project::names::project_name;
use dissensus_store::PacketKey;
use hmac::Mac as _;

/// What the packet's key signs as the secret of its link.
const SIGNED: &[u8] = b"dissensus-link";
/// Bytes of a secret: 128 bits.
const BYTES: usize = 16;

/// A packet, and the secret by which its annotator reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub packet: PacketId,
    pub annotator: String,
    /// Number of texts to label, including those that come again.
    pub texts: u32,
    /// 32 hexadecimal digits.
    pub secret: String,
}

impl Link {
    /// The link on a server with this address.
    pub fn at(&self, address: &str) -> String {
        format!("{address}/p/{}", self.secret)
    }
}

/// The links of all packets, in the order in which they were handed out. They follow from the keys of the
/// packets, so they stay the same.
///
/// # Errors
/// The open project is itself a packet, or cannot be read.
pub fn links(cx: &Study) -> Result<Vec<Link>, ProjectError> {
    cx.whole_project()?;
    let index = cx.context.index();
    let packets = cx.context.store.packets()?.into_iter();
    Ok(packets
        .filter_map(|(packet, key)| {
            let row = index.annotator_row(packet.annotator)?;
            Some(link_of(&packet, &key, &index.annotators()[row as usize].external_id))
        })
        .collect())
}

/// The link of a packet.
pub(super) fn link_of(packet: &Packet, key: &PacketKey, annotator: &str) -> Link {
    Link {
        packet: packet.id,
        annotator: annotator.to_owned(),
        texts: packet.assignments.len() as u32,
        secret: secret(key),
    }
}

/// The page of a packet that sends what is done in it to the server from which it came. `completion` is a
/// code or an address that it shows at the end.
///
/// # Errors
/// The packet is unknown here, this program was built without pages, or the disk fails.
pub fn linked_page(cx: &Study, packet: PacketId, completion: Option<&str>) -> Result<String, ProjectError> {
    page::check_built()?;
    cx.context.store.packet(packet)?.ok_or(StudyError::UnknownPacket)?;
    let failed = |source| ProjectError::Io { path: std::env::temp_dir(), doing: "writing to", source };
    let inside = PrivateFolder::create_in(&std::env::temp_dir()).map_err(failed)?;
    let file = inside.path().join("packet.dissensus");
    cx.context.store.write_packet(packet, &file)?;
    page::page(&file, &project_name(cx.context.store.path()), page::Delivery::Server { completion })
}

/// The language in which annotators use the desk; `None` leaves it to each person's browser.
///
/// # Errors
/// The project cannot be read.
pub fn language(cx: &Study) -> Result<Option<Language>, ProjectError> {
    Ok(cx.context.store.language()?)
}

fn secret(key: &PacketKey) -> String {
    let mut mac = submission::code(key);
    mac.update(SIGNED);
    mac.finalize().into_bytes()[..BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}
