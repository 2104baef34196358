//! The texts of Findings.

use dissensus_api::{
    DisagreementQuery, DisagreementRow, ExplainQuery, ExplainedWords, Explanation, NearText, Ranking,
    TextDetail, WordHeat, WordModelReport,
};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};

session_commands! {
    /// Texts in order of predicted disagreement.
    fn disagreement_ranking(query: DisagreementQuery) -> Ranking =
        |session| session.analysis.ranking(&query);

    /// Some of these texts, as they are now.
    fn disagreement_rows(query: DisagreementQuery, texts: Vec<TextId>) -> Vec<DisagreementRow> =
        |session| session.analysis.rows(&query, &texts);

    /// Everything about one text among the people whom the query chooses, but never the prediction for the person who labels here and has not answered it,
    /// unless `show_hidden` asks for it.
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

    /// Why one person, or two, are predicted to answer a text so. Of the person who labels here and has not answered it nothing is told, unless
    /// `show_hidden` asks for it.
    fn explain(query: ExplainQuery, reading_as: Option<AnnotatorId>, show_hidden: bool) -> Explanation =
        |session| session.analysis.explain(&query, reading_as, show_hidden);

    /// The words that carry the score of the text. It is a job: it tells its progress by events and can be cancelled.
    fn explain_words(
        query: ExplainQuery,
        reading_as: Option<AnnotatorId>,
        show_hidden: bool,
    ) -> ExplainedWords =
        |session| session.analysis.explain_words_as_job(&query, reading_as, show_hidden);

    /// Who marked each word of a text with the type of spans that `query.question` is, and what people would do with it. Of the person who labels here nothing is expected
    /// before that person's answer, unless `show_hidden` asks for it.
    fn word_heat(
        query: DisagreementQuery,
        text: TextId,
        reading_as: Option<AnnotatorId>,
        show_hidden: bool,
    ) -> WordHeat =
        |session| session.analysis.word_heat(&query, text, reading_as, show_hidden);

    /// Fits a model of which words people mark. It is a job: it tells its progress by events and can be cancelled.
    fn fit_words(question: QuestionId) -> WordModelReport =
        |session| session.analysis.fit_words_as_job(question);
}
