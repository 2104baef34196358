//! The one list of commands and events; the TypeScript of `ui/src/lib/bindings.ts` is made from it.

use crate::commands::{
    annotators, application, disagreement, encoder, group_comparison, importing, jobs, labelling, project,
    question_correlation, runs, study,
};
use crate::events::{
    CloseRequested, DownloadChanged, JobChanged, LabelsChanged, ModelChanged, OpenRequested, ProjectChanged,
    RunChanged,
};
use dissensus_workbench::view::training_settings;
use tauri::Wry;
use tauri_specta::{Builder, ErrorHandlingMode, collect_commands, collect_events};

/// Every command and event of the window. Commands that fail reject with a
/// [`Problem`](dissensus_workbench::view::Problem).
pub fn builder() -> Builder<Wry> {
    Builder::new()
        .error_handling(ErrorHandlingMode::Throw)
        .disable_serde_phases()
        .commands(collect_commands![
            application::app_info,
            application::diagnostics,
            application::launch_info,
            application::closing_asked,
            application::quit,
            application::recent_projects,
            application::forget_recent,
            application::settings,
            application::save_settings,
            encoder::encoder_offer,
            encoder::download_encoder,
            encoder::cancel_download,
            encoder::use_encoder,
            encoder::encoders_here,
            encoder::try_encoders,
            project::new_project,
            project::open_project,
            project::open_sample,
            project::close_project,
            project::project,
            project::add_question,
            project::change_question,
            project::annotators,
            project::add_annotator,
            project::save_choices,
            importing::import_preview,
            importing::import_file,
            importing::export_project,
            importing::save_copy,
            labelling::next_text,
            labelling::label_task,
            labelling::neighbour_text,
            labelling::progress,
            labelling::record_label,
            labelling::record_again,
            labelling::undo_label,
            labelling::skip_text,
            labelling::flag_text,
            disagreement::disagreement_ranking,
            disagreement::disagreement_rows,
            disagreement::text_detail,
            disagreement::nearest_agreed_texts,
            disagreement::explain,
            disagreement::explain_words,
            disagreement::word_heat,
            disagreement::fit_words,
            group_comparison::compare_groups,
            group_comparison::group_comparison,
            question_correlation::correlate_questions,
            question_correlation::question_correlation,
            question_correlation::correlation_points,
            annotators::annotator_report,
            annotators::measure_annotators,
            annotators::slips,
            annotators::plan,
            runs::train_defaults,
            runs::auxiliary_candidates,
            runs::start_run,
            runs::resume_run,
            runs::runs,
            runs::run_detail,
            runs::compare_runs,
            runs::use_run,
            runs::active_model,
            runs::delete_run,
            runs::export_runs,
            study::study_draft,
            study::hand_out,
            study::write_packets_again,
            study::study_report,
            study::merge_files,
            study::text_talk,
            study::decide,
            study::open_packet,
            study::hand_in,
            jobs::start_encoding,
            jobs::jobs,
            jobs::cancel_job,
        ])
        .constant("TRAINING_SETTINGS", training_settings())
        .events(collect_events![
            CloseRequested,
            DownloadChanged,
            JobChanged,
            LabelsChanged,
            ModelChanged,
            OpenRequested,
            ProjectChanged,
            RunChanged,
        ])
}
