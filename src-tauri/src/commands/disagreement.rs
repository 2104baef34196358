//! The texts of Findings.

use dissensus_analysis::agreed_texts;
use dissensus_analysis::explain;
use dissensus_analysis::explain_words;
use dissensus_analysis::ranking;
use dissensus_analysis::text_detail;
use dissensus_analysis::word_models;
use dissensus_api::{
    DisagreementQuery, DisagreementRow, ExplainQuery, ExplainedWords, Explanation, NearText, Ranking,
    TextDetail, WordHeat, WordModelReport,
};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use dissensus_project::jobs::Follow;
use dissensus_training::encoding::EncoderChoice;

session_commands! {
    /// Texts in the order of predicted disagreement.
    fn disagreement_ranking(query: DisagreementQuery) -> Ranking =
        |session| ranking::rank(&session.analysis, &query);

    /// Current rows of some of these texts.
    fn disagreement_rows(query: DisagreementQuery, texts: Vec<TextId>) -> Vec<DisagreementRow> =
        |session| ranking::read_rows(&session.analysis, &query, &texts);

    /// Details of one text for the people selected by the query, except the prediction for the current
    /// annotator before their answer, unless `show_hidden` is set.
    fn text_detail(
        query: DisagreementQuery,
        text: TextId,
        group_by: Option<String>,
        reading_as: Option<AnnotatorId>,
        show_hidden: bool,
    ) -> TextDetail = |session| {
        text_detail::read(&session.analysis, &query, text, group_by.as_deref(), reading_as, show_hidden)
    };

    /// The nearest texts on which people agreed.
    fn nearest_agreed_texts(question: QuestionId, text: TextId) -> Vec<NearText> =
        |session| agreed_texts::nearest(&session.analysis, question, text);

    /// Explains the predicted answers of one or two people to a text. Nothing is returned for the current
    /// annotator before their answer, unless `show_hidden` is set.
    fn explain(query: ExplainQuery, reading_as: Option<AnnotatorId>, show_hidden: bool) -> Explanation =
        |session| explain::explain_text(&session.analysis, &query, reading_as, show_hidden);

    /// The words that contribute to the score of the text. A job:
    /// it reports progress by events and can be cancelled.
    fn explain_words(
        query: ExplainQuery,
        reading_as: Option<AnnotatorId>,
        show_hidden: bool,
    ) -> ExplainedWords =
        |session| explain_words::explain_text(&session.analysis, &query, reading_as, show_hidden, &EncoderChoice::default(), Follow::Job);

    /// Who marked each word of a text with the type of spans `query.question`, and who is predicted to.
    /// Nothing is predicted for the current annotator before their answer, unless `show_hidden` is set.
    fn word_heat(
        query: DisagreementQuery,
        text: TextId,
        reading_as: Option<AnnotatorId>,
        show_hidden: bool,
    ) -> WordHeat =
        |session| word_models::heat(&session.analysis, &query, text, reading_as, show_hidden);

    /// Fits a model of which words people mark. A job: it reports progress by events and can be cancelled.
    fn fit_words(question: QuestionId) -> WordModelReport =
        |session| word_models::fit_words(&session.analysis, question, &EncoderChoice::default(), Follow::Job);
}
