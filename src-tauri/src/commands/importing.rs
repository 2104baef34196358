//! Files in and out.

use dissensus_analysis::prediction_file;
use dissensus_api::{
    CopyReport, ExportContents, ExportFormat, ExportReport, ExportRequest, ImportChoices, ImportPreview,
    ImportReport, PastedRows, PredictionsWritten, SummaryRequest, SummaryWritten,
};
use dissensus_editing::copy;
use dissensus_editing::copy::CopyChoices;
use dissensus_project::encryption::typed_passphrase;
use dissensus_project::jobs::Follow;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::{DecisionLayer, ExportChoices, Pseudonymised, export_formats as formats};
use std::path::Path;

session_commands! {
    /// Previews a file; nothing is written.
    fn import_preview(path: String, choices: ImportChoices) -> ImportPreview =
        |session| exchange::preview(&session.exchange, Path::new(&path), &choices);

    /// Previews a file, with the columns chosen for the last file that had the same ones, if any;
    /// nothing is written.
    fn import_preview_as_last_time(path: String) -> ImportPreview =
        |session| exchange::preview_as_last_time(&session.exchange, Path::new(&path));

    /// Writes pasted rows to a file that can be imported; `header` is whether the first row names the
    /// columns, `None` to detect it.
    fn paste_rows(pasted: String, header: Option<bool>) -> PastedRows =
        |session| exchange::paste(&session.exchange, &pasted, header);
}

app_commands! {
    /// Removes a file of pasted rows.
    fn forget_pasted(path: String) -> () = |workbench| workbench.forget_pasted(Path::new(&path));
}

session_commands! {
    /// Deletes the unpacked copy of the previewed file.
    fn forget_opened() -> () = |session| {
        exchange::forget_opened(&session.exchange);
        Ok(())
    };

    /// Imports a file. A job: it reports progress by events and can be cancelled.
    fn import_file(path: String, choices: ImportChoices) -> ImportReport =
        |session| exchange::import(&session.exchange, Path::new(&path), &choices, None);

    /// Writes all current labels to a file: for others with pseudonyms (and notes, where `notes` is set),
    /// else with ids, so that it can be imported again; with decisions on each text,
    /// where `decisions` is set.
    fn export_project(path: String, pseudonyms: bool, notes: bool, decisions: bool) -> ExportReport =
        |session| {
        // The dialog has asked whether to replace an existing file.
        let choices = ExportChoices {
            replace: true,
            pseudonyms: pseudonyms.then_some(Pseudonymised { notes }),
            decisions: decisions.then_some(DecisionLayer::Columns),
            ..ExportChoices::default()
        };
        let done = exchange::export(&session.exchange, Path::new(&path), &choices, Follow::Job)?;
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(ExportReport {
            rows: number(done.answers),
            suppressed: number(done.suppressed),
            left_blank: done.left_blank,
            identifiable: number(done.identifiable),
        })
    };
}

app_commands! {
    /// Formats of other programs for exporting labels.
    fn export_formats() -> Vec<ExportFormat> = |_app| Ok(formats());
}

session_commands! {
    /// Previews a file, including what its format cannot represent; nothing is written. An earlier preview
    /// that is still running ends as cancelled.
    fn export_contents(request: ExportRequest) -> ExportContents =
        |session| exchange::export_contents(&session.exchange, &request);

    /// Cancels the preview of a file.
    fn stop_export_contents() -> () = |session| {
        exchange::stop_export_contents(&session.exchange);
        Ok(())
    };

    /// Writes labels for another program. A job: it reports progress by events and can be cancelled. An
    /// existing file is replaced only with `replace`, where the dialog has asked.
    fn export_for_program(path: String, request: ExportRequest, replace: bool) -> ExportContents = |session| {
        exchange::export_for_tool(&session.exchange, Path::new(&path), &request, replace, Follow::Job)
    };

    /// Writes everyone's predicted answer to every text, one row per pair. A job: it reports progress by
    /// events and can be cancelled. An existing file is replaced, for the dialog has asked.
    fn export_predictions(path: String, question: String) -> PredictionsWritten = |session| {
        let done = prediction_file::write_live(&session.analysis, &question, Path::new(&path), true)?;
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(PredictionsWritten {
            texts: number(done.table.texts),
            people: number(done.table.annotators as u64),
            people_without_labels: number(done.table.annotators_without_labels as u64),
            rows: number(done.rows),
        })
    };

    /// Writes labels aggregated by text or by person. A job: it reports progress by events and can be
    /// cancelled. An existing file is replaced, for the dialog has asked.
    fn export_summary(path: String, request: SummaryRequest) -> SummaryWritten =
        |session| {
        let asked = session.summaries.check(&request, Path::new(&path), true)?;
        session.summaries.write(&asked, Follow::Job)
    };

    /// Saves a copy of the whole project, encrypted if a passphrase is given; an existing file is replaced,
    /// for the dialog has asked.
    fn save_copy(path: String, passphrase: Option<String>) -> CopyReport = |session| {
        let passphrase = passphrase.as_deref().map(typed_passphrase).transpose()?;
        let choices = CopyChoices { replace: true, passphrase: passphrase.as_ref(), ..CopyChoices::default() };
        copy::save_copy(&session.project, Path::new(&path), choices, Follow::Job)
    };
}
