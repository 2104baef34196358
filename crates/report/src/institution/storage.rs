//! Where data are, how long, and what a withdrawal reaches.

use super::{Sheet, section, table, text, to_fill_in};
use crate::document::{Block, Document};
use dissensus_api::DiskInfo;

pub(super) fn sheet(disk: &DiskInfo) -> Sheet {
    let sections = vec![
        section(
            "Files of a project",
            vec![table(
                ["file", "content", "until"],
                [
                    [
                        "NAME.dissensus",
                        "texts, people, questions, all answers with their times, guideline, models in use; SQLite, not encrypted",
                        "it is deleted",
                    ],
                    [
                        "NAME.dissensus.runs",
                        "tuned encoders and checkpoints of training runs",
                        "the run is removed, or a withdrawal removes it",
                    ],
                    [
                        "NAME.dissensus-wal, -shm, .lock",
                        "the journal and the lock, while the project is open",
                        "the project is closed",
                    ],
                    [
                        "NAME.dissensus.before-merge-DATE, .before-vN",
                        "backups before a merge that erases or changes something, and before a new format of the file",
                        "somebody deletes them; withdrawals do not reach them",
                    ],
                    [
                        "NAME.dissensus-wal.of-another-file-DATE, -journal.of-another-file-DATE",
                        "a journal that was next to the project and belongs to another file: texts, people and answers of that file",
                        "somebody deletes them; withdrawals do not reach them",
                    ],
                    [
                        "NAME.dissensus.received",
                        "what annotators' browsers have sent, until it is merged",
                        "it is merged; a withdrawal removes it",
                    ],
                    [
                        "the folder “backups” of the program's data",
                        "automatic backups: each of the last week, then weekly for eight weeks, then monthly for a year",
                        "they are thinned out by age; withdrawals erase the person in them",
                    ],
                    [
                        "packets and submissions",
                        "one person's texts and answers, where they were saved",
                        "somebody deletes them",
                    ],
                    ["exports, reports, bundles", "what was chosen at the export", "somebody deletes them"],
                ],
            )],
        ),
        section(
            "Files of the program",
            vec![
                table(
                    ["system", "settings", "data", "cache"],
                    [
                        ["Linux", "~/.config/dissensus", "~/.local/share/dissensus", "~/.cache/dissensus"],
                        [
                            "macOS",
                            "~/Library/Application Support/dissensus",
                            "~/Library/Application Support/dissensus",
                            "~/Library/Caches/dissensus",
                        ],
                        [
                            "Windows",
                            "%APPDATA%\\dissensus\\config",
                            "%APPDATA%\\dissensus\\data",
                            "%LOCALAPPDATA%\\dissensus\\cache",
                        ],
                    ],
                ),
                text(
                    "Settings: choices of the window, names and places of recent projects, a person's own limits and unfinished answers. Data: encoders, automatic backups of projects, the sample project, pasted rows until they are imported, and a log without texts, labels and names. Encoders from the hub are in the cache that its tools share, ~/.cache/huggingface. DISSENSUS_HOME puts settings, data and cache into one folder. Files are readable by their owner only.",
                ),
                table(
                    ["system", "storage of the window"],
                    [
                        ["Linux", "~/.local/share/org.dissensus.window"],
                        [
                            "macOS",
                            "~/Library/WebKit/org.dissensus.window, ~/Library/Caches/org.dissensus.window",
                        ],
                        ["Windows", "%LOCALAPPDATA%\\org.dissensus.window"],
                    ],
                ),
                text(
                    "The system's web view stores there what the forms of the window remember: plans of studies with names of people, names of those who decide, forms of invitations, folders that are watched, and paths of projects. DISSENSUS_HOME does not move it, and withdrawals do not reach it: delete the folder while Dissensus is closed to erase it.",
                ),
                text(
                    "Encrypt the disk of each computer that holds a project: the project itself is not encrypted. Copies and submissions can be encrypted with a passphrase for their way to somebody else.",
                ),
                Block::Text(format!(
                    "What the computer said on which this sheet was written: {}",
                    disk.sentence
                )),
            ],
        ),
        section(
            "Pseudonyms",
            vec![text(
                "Exports for others, reports and bundles name people A1, A2, … and leave out times, and values of attributes that fewer than five people share. The project itself keeps the ids that it was given; the key from pseudonyms to people is in the project file only. Combinations of attributes and free text can still identify somebody.",
            )],
        ),
        section(
            "Withdrawal",
            vec![
                text(
                    "“dissensus people withdraw PROJECT --annotator ID --yes”, or the person's page in the window, erases everything of that person for good: answers, notes, attributes, names, packets, the models in use and every training run of a time when the person was in the project. Automatic backups on this computer are erased too, and other copies of the project when they are merged. What remains is a hash by which copies recognise the withdrawal.",
                ),
                text(
                    "Out of reach are backups made by other means, exports, bundles, packets and submissions that exist as files elsewhere, free text that names the person, and what others have received. The command lists those that it knows. Delete these yourself, and have those who received data delete theirs.",
                ),
            ],
        ),
        section(
            "Retention",
            vec![
                text(
                    "When time has passed, the program deletes nothing by itself but automatic backups, which are thinned out by age.",
                ),
                to_fill_in(
                    "On which computers and drives, and in which backups of the institution, the project is stored.",
                ),
                to_fill_in("Who has access, and who is responsible."),
                to_fill_in(
                    "Until when data about people are kept, who deletes them, and what is stored longer in pseudonymised form.",
                ),
            ],
        ),
    ];
    Sheet {
        file: "storage",
        document: Document { title: "Storage, retention and withdrawal".to_owned(), sections },
    }
}
