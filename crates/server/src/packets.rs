//! Which packet a secret opens.

use dissensus_domain::PacketId;
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use dissensus_transfer::study::{self, Link, Study};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often the packets are read again for secrets that are unknown.
const READ_AGAIN: Duration = Duration::from_secs(1);

/// The packets of a project by the secrets of their links.
pub(crate) struct Packets {
    known: Mutex<Known>,
}

struct Known {
    packets: HashMap<String, PacketId>,
    read: Instant,
}

impl Packets {
    pub(crate) fn read(study: &Study) -> Result<Self, ProjectError> {
        Ok(Self { known: Mutex::new(Known { packets: packets(study)?, read: Instant::now() }) })
    }

    /// Adds the packet of somebody who has joined.
    pub(crate) fn add(&self, link: &Link) {
        lock(&self.known).packets.insert(link.secret.clone(), link.packet);
    }

    /// The packet that this secret opens; more packets may have been handed out since the last time.
    pub(crate) fn find(&self, study: &Study, secret: &str) -> Result<Option<PacketId>, ProjectError> {
        let mut known = lock(&self.known);
        if !known.packets.contains_key(secret) && known.read.elapsed() > READ_AGAIN {
            *known = Known { packets: packets(study)?, read: Instant::now() };
        }
        Ok(known.packets.get(secret).copied())
    }
}

fn packets(study: &Study) -> Result<HashMap<String, PacketId>, ProjectError> {
    Ok(study::links(study)?.into_iter().map(|link| (link.secret, link.packet)).collect())
}
