//! Why a check for updates has no result.

use dissensus_project::error::ProjectError;

dissensus_domain::errors! {
    /// Why it is unknown whether there is a newer version. The program works on as before.
    #[derive(Debug)]
    pub enum UpdateError {
        NoSource => "update-no-source",
            "this build of Dissensus has no key of releases, so it cannot check for updates: look for a newer version where you got this one";
        Unreachable { host: String, reason: String } => "update-unreachable",
            "{host} could not be reached ({reason}), so it is unknown whether there is a newer version. Nothing else is affected: check again once this computer is online";
        Status { address: String, status: u16 } => "update-status",
            "{address} answered with status {status}, so it is unknown whether there is a newer version: check again later";
        Redirect { from: String, to: String } => "update-redirect",
            "{from} redirected to {to}, where no releases of Dissensus are, so nothing was read from there: check again later, or from another network";
        Redirects { address: String } => "update-redirect",
            "{address} redirected too often, so nothing was read: check again later, or from another network";
        TooLong { address: String } => "update-metadata",
            "the answer of {address} is too long for the description of a release, so it is not used: check again later, or from another network";
        CutOff { address: String } => "update-cut-off",
            "the answer of {address} was cut off, so it is not used: check again";
        NoSignature { address: String } => "update-signature",
            "{address} has no signature, so the description of the newest release is not used: check again later, and report this if it stays so";
        Signature => "update-signature",
            "the description of the newest release is not signed with the key of Dissensus, so it is not used: check again later or from another network, report this if it stays so, and install nothing from elsewhere";
        Metadata(String) => "update-metadata",
            "the description of the newest release cannot be read ({0}): look at the page of releases, and report this";
        Older { version: String, date: String, seen: String, seen_date: String } => "update-older",
            "the newest release is described as version {version} of {date}, but this computer has seen version {seen} of {seen_date} before, so an old description is being served and is not used: check again later or from another network";
        Clock { version: String, date: String, today: String } => "update-clock",
            "version {version} is of {date}, but by the clock of this computer it is {today}: set the clock and check again";
        NotInRelease { name: String, version: String } => "update-file-unknown",
            "the release of version {version} has no file {name}: give it the name that it has on the page of the release, or download it again from there";
        DownloadCutOff { name: String, bytes: u64, whole: u64 } => "update-file-cut-off",
            "{name} has {bytes} of {whole} bytes, so its download was cut off: do not install it, and download it again";
        DownloadDiffers { name: String, version: String } => "update-file-differs",
            "{name} is not the file of this name in the release of version {version}: do not install it, and download it again from the page of the release";
    }
}

impl From<UpdateError> for ProjectError {
    fn from(error: UpdateError) -> Self {
        Self::refused(error.code(), &error, None)
    }
}
