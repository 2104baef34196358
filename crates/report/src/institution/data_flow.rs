//! What leaves the computer, and how that is shown.

use super::{Sheet, section, table, text};
use crate::document::{Block, Document};

pub(super) fn sheet() -> Sheet {
    let sections = vec![
        section(
            "Summary",
            vec![
                text(
                    "Dissensus is a program on this computer. Texts, labels, names and models are stored in files here and are processed here. There is no account, no server of the makers, no telemetry, no report of crashes, and no model of another company that is asked over a network.",
                ),
                text(
                    "The program opens a connection to another computer in three cases only. Somebody starts each of them, and each can be left out.",
                ),
            ],
        ),
        section(
            "The three downloads",
            vec![
                table(
                    ["download", "when", "from", "what is sent"],
                    [
                        [
                            "an encoder (a language model as files)",
                            "when an encoder is chosen that is not on this computer",
                            "huggingface.co, or the mirror in HF_ENDPOINT, and the hosts of files to which it redirects; nothing with HF_HUB_OFFLINE=1",
                            "the encoder's name, the name and version of this program and, if one is set, an access token of the hub, which no other host receives",
                        ],
                        [
                            "the description of the newest release",
                            "when somebody asks for updates, or weekly if that is switched on",
                            "the host of the releases, and the hosts of files to which it redirects: objects.githubusercontent.com and release-assets.githubusercontent.com, and no other",
                            "the name of this program, without its version, and nothing about the computer, its user or the project",
                        ],
                        [
                            "a task packet from a link",
                            "when somebody opens a link to a packet and confirms it",
                            "the address in the link, which the study's researcher runs, and where that address redirects",
                            "the link, and the name of this program without its version",
                        ],
                    ],
                ),
                text("As with every connection, the other computer sees the internet address of this one."),
            ],
        ),
        section(
            "Studies over a network",
            vec![
                text(
                    "If the researcher starts “dissensus study serve” or “Share over the network”, this computer answers requests of the annotators' browsers, by default on this computer alone. A page sends one person's own answers to the address that the researcher has set, and no other person's. Nothing of this runs unless it is started.",
                ),
                text(
                    "Task packets, submissions, exports and reports are files. Who sends them where is decided by people outside of the program.",
                ),
            ],
        ),
        section(
            "How this is tested",
            vec![
                text(
                    "A test of every change runs the command through all its use cases (import, labels, encoding, training, figures, packets, merging, reports, export, withdrawal) and opens the window, inside a network namespace of Linux that has no route to any other computer. Everything but the downloads must work there, without a single attempt to reach another computer, which the system counts; and each download must fail with a sentence that says so. The test is tests/tests/offline.rs in the source code; its command is “cargo xtask test --only offline”.",
                ),
                text(
                    "The same can be repeated by anybody on Linux. Ubuntu 24.04 and later allow it only after “sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0”. Start the program as",
                ),
                Block::Command("unshare --user --net --map-root-user dissensus-window".to_owned()),
            ],
        ),
    ];
    Sheet { file: "data-flow", document: Document { title: "Data flow".to_owned(), sections } }
}
