//! The texts of Findings.

use dissensus_api::{
    DisagreementQuery, DisagreementRow, ExplainQuery, ExplainedWords, Explanation, NearText, Ranking,
    TextDetail, WordHeat, WordModelReport,
};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};

session_commands! {
    /// Texts in the order of predicted disagreement.
    fn disagreement_ranking(query: DisagreementQuery) -> Ranking =
        |session| session.analysis.ranking(&query);

    /// Current rows of some of these texts.
    fn disagreement_rows(query: DisagreementQuery, texts: Vec<TextId>) -> Vec<DisagreementRow> =
        |session| session.analysis.rows(&query, &texts);

    /// Details of one text for the people selected by the query, except the prediction for the current
    /// annotator before their answer, unless `show_hidden` is set.
    fn text_detail(
        query: DisagreementQuery,
        text: TextId,
        group_by: Option<String>,
        reading_as: Option<AnnotatorId>,
        show_hidden: bool,
    ) -> TextDetail = |session| {
        session.analysis.text_detail(&query, text, group_by.as_deref(), reading_as, show_hidden)
    };

    /// The nearest texts on which people agreed.
    fn nearest_agreed_texts(question: QuestionId, text: TextId) -> Vec<NearText> =
        |session| session.analysis.nearest_agreed_texts(question, text);

    /// Explains the predicted answers of one or two people to a text. Nothing is returned for the current
    /// annotator before their answer, unless `show_hidden` is set.
    fn explain(query: ExplainQuery, reading_as: Option<AnnotatorId>, show_hidden: bool) -> Explanation =
        |session| session.analysis.explain(&query, reading_as, show_hidden);

    /// The words that contribute to the score of the text. A job:
    /// it reports progress by events and can be cancelled.
    fn explain_words(
        query: ExplainQuery,
        reading_as: Option<AnnotatorId>,
        show_hidden: bool,
    ) -> ExplainedWords =
        |session| session.analysis.explain_words_as_job(&query, reading_as, show_hidden);

    /// Who marked each word of a text with the type of spans `query.question`, and who is predicted to.
    /// Nothing is predicted for the current annotator before their answer, unless `show_hidden` is set.
    fn word_heat(
        query: DisagreementQuery,
        text: TextId,
        reading_as: Option<AnnotatorId>,
        show_hidden: bool,
    ) -> WordHeat =
        |session| session.analysis.word_heat(&query, text, reading_as, show_hidden);

    /// Fits a model of which words people mark. A job: it reports progress by events and can be cancelled.
    fn fit_words(question: QuestionId) -> WordModelReport =
        |session| session.analysis.fit_words_as_job(question);
}
