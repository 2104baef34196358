//! Backups of projects on this computer.

use serde::{Deserialize, Serialize};

view! {
    /// Backups on this computer, newest first.
    pub struct BackupList {
        /// The folder with the backups of all projects.
        pub folder: String,
        /// Notice that a service synchronises this folder, and what to do.
        pub sync_notice: Option<String>,
        /// The backups of the open project, wherever its file was; those of all projects where none is open.
        pub backups: Vec<BackupInfo>,
    }

    /// One backup: the whole project at one moment, without the files of its runs.
    pub struct BackupInfo {
        /// Identifies the backup: id of the project and time.
        pub id: String,
        /// When it was made.
        pub at: f64,
        /// The same in the user's time zone: `2026-03-01 14:05`.
        pub time: String,
        /// Size in bytes.
        pub bytes: f64,
        /// Number of labels in it, if that is known.
        pub labels: Option<u32>,
        /// Whether the program made it by itself.
        pub automatic: bool,
        /// Name of the project, if that is known.
        pub name: Option<String>,
        /// Where the file of the project was, if that is known.
        pub path: Option<String>,
        /// Whether it was made of another file than the open one: a copy, a task packet, or the project
        /// before it was moved.
        pub other_file: bool,
        /// The backup's own file.
        pub file: String,
    }

    /// What changed between a backup and the open project.
    #[derive(Default)]
    pub struct BackupChanges {
        /// Answers, by question and annotator; only those with a difference.
        pub answers: Vec<BackupAnswers>,
        /// Skips, flags and notes that were added.
        pub marks: u32,
        pub texts_added: u32,
        pub texts_removed: u32,
        pub people_added: u32,
        pub people_removed: u32,
        /// People with a new name or attribute.
        pub people_changed: u32,
        /// People who withdrew, who are erased from backups too.
        pub people_withdrawn: u32,
        pub questions_added: u32,
        pub questions_removed: u32,
        /// Questions with another wording, other levels or other settings.
        pub questions_changed: u32,
        /// New versions of the guideline.
        pub guidelines: u32,
        /// Task packets that were handed out.
        pub packets: u32,
        /// Settings of the study, decisions, attention checks, panels and similar records.
        pub other: u32,
    }

    /// How the answers of one annotator to one question differ from a backup, in all annotation rounds.
    pub struct BackupAnswers {
        pub annotator: String,
        pub question: String,
        /// Answers to texts that had none in the backup.
        pub added: u32,
        /// Texts that were answered again.
        pub changed: u32,
        /// Answers that were taken back.
        pub withdrawn: u32,
        /// Answers that only the backup has: the project's file was replaced by an older one.
        pub missing: u32,
    }

    /// A project file that was restored from a backup, next to the existing ones.
    pub struct RestoredBackup {
        /// The new file.
        pub path: String,
        /// When the backup was made, in the user's time zone.
        pub time: String,
    }
}
