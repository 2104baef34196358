//! Links of the scheme `dissensus:`, before anything is done with them.

use serde::{Deserialize, Serialize};

view! {
    /// What a link leads to.
    pub struct LinkTarget {
        /// What would be done.
        pub kind: LinkKind,
        /// The host of the address, with its port if it has an unusual one.
        pub host: String,
        /// The whole address.
        pub address: String,
        /// Whether everybody on the way can read and change what is transferred.
        pub unencrypted: bool,
        /// Name for the file of a packet.
        pub file: String,
    }

    /// What a link asks for.
    #[derive(Copy, Eq)]
    pub enum LinkKind {
        /// Opens a page of a study in the browser.
        Page,
        /// Downloads the packet of a study, and opens it.
        Packet,
    }
}
