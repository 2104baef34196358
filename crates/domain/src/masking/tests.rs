use super::*;
use proptest::prelude::*;
use rstest::rstest;
use std::sync::LazyLock;
use strum::VariantArray as _;

fn rules(on: &[MaskRule]) -> MaskRules {
    MaskRules { on: on.to_vec(), ..MaskRules::default() }
}

fn found(rule: MaskRule, text: &str) -> Vec<&str> {
    let masker = Masker::new(&rules(&[rule])).unwrap();
    masker.find("t", text).into_iter().map(|one| &text[one.at]).collect()
}

#[rstest]
#[case::plain("write to ada@example.org.", &["ada@example.org"])]
#[case::tag_and_more_labels("ada.l+x@mail.example.co.uk, b@c.de", &["ada.l+x@mail.example.co.uk", "b@c.de"])]
#[case::letters_of_other_scripts("用户@例子.公司 und jürgen@müller.de", &["用户@例子.公司", "jürgen@müller.de"])]
#[case::whole_text("a@b.c", &["a@b.c"])]
#[case::no_address("a @ b, a@b, @ada", &[])]
fn e_mail_addresses(#[case] text: &str, #[case] wanted: &[&str]) {
    assert_eq!(found(MaskRule::Email, text), wanted);
}

#[rstest]
#[case::scheme("see https://example.org/a?b=c#d.", &["https://example.org/a?b=c#d"])]
#[case::in_brackets("(http://example.org)", &["http://example.org"])]
#[case::www("WWW.Example.org/Ü!", &["WWW.Example.org/Ü"])]
#[case::only_a_domain("at blog.example.com, or not", &["blog.example.com"])]
#[case::chinese_after("请看https://example.org，好", &["https://example.org"])]
#[case::no_address("e.g. this.That is 3.5", &[])]
fn web_addresses(#[case] text: &str, #[case] wanted: &[&str]) {
    assert_eq!(found(MaskRule::Web, text), wanted);
}

#[rstest]
#[case::mentions("@ada thanks, @Bob_2.", &["@ada", "@Bob_2"])]
#[case::forum("u/some_one and /u/some-one", &["u/some_one", "/u/some-one"])]
#[case::arabic("شكرا @أحمد", &["@أحمد"])]
#[case::chinese("谢谢@张三", &["@张三"])]
#[case::korean("감사@kim", &["@kim"])]
#[case::arabic_prefix("و@أحمد", &["@أحمد"])]
#[case::forum_in_chinese("看u/some_one吧", &["u/some_one"])]
#[case::e_mail_is_no_user("ada@example.org", &[])]
#[case::e_mail_with_an_umlaut_is_no_user("jürgenä@example.org", &[])]
#[case::no_user("@ 5 €, menu/path", &[])]
fn users(#[case] text: &str, #[case] wanted: &[&str]) {
    assert_eq!(found(MaskRule::User, text), wanted);
}

#[rstest]
#[case::international("call +44 20 7946 0958 now", &["+44 20 7946 0958"])]
#[case::brackets("(030) 123-4567", &["(030) 123-4567"])]
#[case::groups("555-123-4567", &["555-123-4567"])]
#[case::arabic_digits("٠٥٠ ١٢٣ ٤٥٦٧", &["٠٥٠ ١٢٣ ٤٥٦٧"])]
#[case::chinese("我的电话是13812345678，", &["13812345678"])]
#[case::korean("010-1234-5678로 전화", &["010-1234-5678"])]
#[case::japanese("090-1234-5678に電話", &["090-1234-5678"])]
#[case::thai("โทร081-234-5678ครับ", &["081-234-5678"])]
#[case::arabic_prefix("ب0501234567", &["0501234567"])]
#[case::bracket_after_a_word("Tel(030)1234567", &["(030)1234567"])]
#[case::two_with_a_slash("030 1234567 / 040 7654321", &["030 1234567 / 040 7654321"])]
#[case::two_mobile("0171 2345678 / 0171 2345679", &["0171 2345678 / 0171 2345679"])]
#[case::two_in_brackets("(555) 123-4567 (555) 987-6543", &["(555) 123-4567 (555) 987-6543"])]
#[case::second_in_brackets("+49 171 2345678 (0171 2345678)", &["+49 171 2345678 (0171 2345678"])]
#[case::two_after_long_numbers("12345678 0171 2345678", &["12345678 0171 2345678"])]
#[case::far_apart("0171 2345678        0171 2345679", &["0171 2345678", "0171 2345679"])]
#[case::before_a_date("+49 30 1234567 2026-11-30", &["+49 30 1234567"])]
#[case::after_a_date("01.02.2024 030 1234567", &["030 1234567"])]
#[case::between_dates("1.2.2024-3.4.2024 030 1234567 2024/05/06", &["030 1234567"])]
#[case::like_a_date_inside("+45 20-12-2024", &["+45 20-12-2024"])]
#[case::after_a_word_with_a_digit("T1 030 1234567 3x", &["030 1234567"])]
#[case::too_many_digits_in_one("12345678901234567890", &[])]
#[case::several_dates("2026-11-30 01.02.2024 – 2024-01-31/2024-02-28", &[])]
#[case::dates_and_years("2024-01-31, 31.01.2024, 1939-1945, 1.2.24", &[])]
#[case::other_numbers("192.168.10.20, 12345, 1 2 3 4 5 6 7 8, 20000000, x1234567890y", &[])]
fn phone_numbers(#[case] text: &str, #[case] wanted: &[&str]) {
    assert_eq!(found(MaskRule::Phone, text), wanted);
}

#[rstest]
#[case::iban("to DE89 3704 0044 0532 0130 00 and", &["DE89 3704 0044 0532 0130 00"])]
#[case::iban_in_one("gb82WEST12345698765432.", &["gb82WEST12345698765432"])]
#[case::wrong_check_digits("DE88370400440532013000", &[])]
#[case::card("4111 1111 1111 1111", &["4111 1111 1111 1111"])]
#[case::wrong_card("4111 1111 1111 1112", &[])]
#[case::zeros("0000000000000000", &[])]
#[case::card_in_chinese("卡号4111111111111111", &["4111111111111111"])]
#[case::card_before_japanese("4111-1111-1111-1111です", &["4111-1111-1111-1111"])]
#[case::card_and_expiry("4111 1111 1111 1111 12/27", &["4111 1111 1111 1111"])]
#[case::card_and_code("4111 1111 1111 1111 123", &["4111 1111 1111 1111"])]
#[case::card_after_a_number("1 4111 1111 1111 1111", &["4111 1111 1111 1111"])]
#[case::two_cards("4111 1111 1111 1111 5500 0000 0000 0004", &["4111 1111 1111 1111", "5500 0000 0000 0004"])]
#[case::card_in_a_word("x4111111111111111, 4111111111111111x, 41111111111111110000", &[])]
#[case::iban_in_chinese("卡DE89370400440532013000号", &["DE89370400440532013000"])]
#[case::iban_after_the_like("KD12 DE89 3704 0044 0532 0130 00", &["DE89 3704 0044 0532 0130 00"])]
#[case::iban_in_a_word("xDE89370400440532013000, DE89370400440532013000x", &[])]
fn accounts(#[case] text: &str, #[case] wanted: &[&str]) {
    assert_eq!(found(MaskRule::Account, text), wanted);
}

#[rstest]
#[case::bracket("a(b", "at line 1, column 2")]
#[case::second_line("(?x)\nab\n[z-a]", "at line 3, column 2")]
#[case::unknown_class(r"\p{Nothing}", "column 1")]
#[case::no_pattern("  ", "has none")]
#[case::repeated("a{1000}{1000}", "too much memory")]
#[case::star("x*", "at least one")]
#[case::boundary(r"\b", "at least one")]
#[case::nothing_at_all(r"[^\s\S]", "at least one")]
#[case::dot(".", "every word")]
#[case::words(r"\w+", "every word")]
#[case::line(r".+", "every word")]
fn invalid_patterns_are_refused(#[case] pattern: &str, #[case] part: &str) {
    let rules = MaskRules { pattern: pattern.to_owned(), ..rules(&[MaskRule::Pattern]) };
    let error = Masker::new(&rules).unwrap_err().to_string();
    assert!(error.contains(part), "{error}");
    // While the rule is off, the pattern may be anything.
    assert!(Masker::new(&MaskRules { on: Vec::new(), ..rules }).unwrap().is_off());
}

/// What a pattern finds.
fn by_pattern(pattern: &str, text: &str) -> Vec<Range<usize>> {
    let rules = MaskRules { pattern: pattern.to_owned(), ..rules(&[MaskRule::Pattern]) };
    Masker::new(&rules).unwrap().find("t", text).into_iter().map(|one| one.at).collect()
}

#[rstest]
#[case::every_few_bytes("Case 12, ", 5_000)]
#[case::with_letters_of_several_bytes("Case 123456789 äöü 李明 ".repeat(150), 40)]
#[case::alone_at_the_end("x".repeat(70_000) + " Case 7", 1)]
fn patterns_find_everything_in_long_texts(#[case] part: impl Into<String>, #[case] times: usize) {
    let text = part.into().repeat(times);
    let pattern = r"\bCase \d+\b";
    let wanted: Vec<Range<usize>> =
        Regex::new(pattern).unwrap().find_iter(&text).map(|found| found.range()).collect();
    assert!(!wanted.is_empty());
    assert_eq!(by_pattern(pattern, &text), wanted);
}

#[test]
fn patterns_without_a_maximum_length_look_a_few_thousand_characters_ahead() {
    let with = |between: usize| format!("{} a{}b", "-".repeat(30_000), "x".repeat(between));
    assert_eq!(by_pattern("a.*b", &with(LONGEST_MATCH - 2)).len(), 1);
    assert!(by_pattern("a.*b", &with(2 * LONGEST_MATCH)).is_empty());
    // In a short text, they find everything.
    let short = format!("a{}b", "x".repeat(2 * LONGEST_MATCH - 2));
    assert_eq!(by_pattern("a.*b", &short)[0].len(), short.len());
}

#[test]
fn long_runs_of_digits_end() {
    for part in ["1 ", "12 ", "1.1.1.1 ", "2024-01-31 ", "((((", "1234567890", "+1 (", "4111 ", "1-1-2024-"] {
        let text = part.repeat(100_000 / part.len());
        for rule in [MaskRule::Phone, MaskRule::Account] {
            let found = found(rule, &text);
            assert!(found.iter().all(|one| one.len() >= 7), "{part}");
        }
    }
}

/// A search that gave up, or that began again at each of 100,000 characters, would not come to the end.
#[rstest]
#[case::addresses(MaskRule::Email, &["a", "a.", "@a", "a@b..", "ä@"], "ada@example.org")]
#[case::domains(MaskRule::Web, &["a.", "http:/", "ä-", "www ", "a.co "], "https://example.org")]
#[case::users(MaskRule::User, &["a@b", "@ ", "u/a ", "ä@ä"], "@ada")]
#[case::phones(MaskRule::Phone, &["1 ", "((1", "1.1.1.1 ", "+ "], "+44 20 7946 0958")]
#[case::accounts(MaskRule::Account, &["AA11 ", "4111 1111 1111 111x ", "A1-"], "DE89 3704 0044 0532 0130 00")]
fn something_is_found_after_long_near_matches(
    #[case] rule: MaskRule,
    #[case] parts: &[&str],
    #[case] wanted: &str,
) {
    for part in parts {
        let text = format!("{}; ; ; ; ; ; {wanted}", part.repeat(100_000 / part.chars().count()));
        assert_eq!(found(rule, &text).last(), Some(&wanted), "{part}");
    }
}

#[test]
fn word_lists_have_limits() {
    let with = |words: Vec<String>| Masker::new(&MaskRules { words, ..rules(&[MaskRule::Words]) });
    assert!(matches!(with(vec!["x".repeat(201)]).unwrap_err(), MaskError::Word { length: 201, .. }));
    let many = (0..200_000).map(|n| format!("name{n}")).collect();
    assert!(matches!(with(many).unwrap_err(), MaskError::Many { .. }));
}

#[test]
fn masks_keep_lines_offsets_and_exceptions() {
    let except = |found: &str, text: Option<&str>| MaskException {
        found: found.to_owned(),
        text: text.map(str::to_owned),
    };
    let rules = MaskRules {
        words: vec![
            "Ada Lovelace".to_owned(),
            "lovelace@x.org".to_owned(),
            "May".to_owned(),
            "Bo".to_owned(),
        ],
        except: vec![except("May", None), except("Bo", Some("t2"))],
        ..rules(&[MaskRule::Words, MaskRule::Email])
    };
    let masker = Masker::new(&rules).unwrap();
    let mask = |id: &str, body: &str| masker.mask(id, body);
    assert_eq!(mask("t1", "Ada\r\nLovelace").unwrap(), "███\r\n████████");
    assert_eq!(mask("t1", "Ada Lovelace, may I?").unwrap(), "███ ████████, ███ I?");
    assert_eq!(mask("t1", "May"), None);
    assert_eq!(mask("t1", "MAY").unwrap(), "███");
    assert_eq!((mask("t1", "Bo").as_deref(), mask("t2", "Bo")), (Some("██"), None));
    // The list finds a part of what the address rule finds.
    assert_eq!(mask("t1", "😀 ada.lovelace@x.org\r\n").unwrap(), "😀 ██████████████████\r\n");
}

#[test]
fn masked_long_texts_are_no_longer_than_texts_may_be() {
    let body = "a@b.cc ".repeat(MAX_TEXT_BYTES / 7);
    let masked = Masker::new(&rules(&[MaskRule::Email])).unwrap().mask("t", &body).unwrap();
    assert_eq!((masked.len(), masked.chars().count()), (body.len(), body.chars().count()));
    assert!(masked.starts_with("****** ******"));
}

const PATTERNS: [&str; 5] = ["a", r"\d+", r"[\p{L}]\s", r"\p{M}", "(?s)o.{3}"];

/// All rules, with each of these patterns.
static MASKERS: LazyLock<Vec<Masker>> = LazyLock::new(|| {
    let with = |pattern: &&str| {
        let rules = MaskRules {
            on: MaskRule::VARIANTS.to_vec(),
            words: vec!["Ada".to_owned(), "李明".to_owned(), "é".to_owned()],
            pattern: (*pattern).to_owned(),
            ..MaskRules::default()
        };
        Masker::new(&rules).unwrap()
    };
    PATTERNS.iter().map(with).collect()
});

proptest! {
    /// Any text: characters, lines and everything outside of findings stay.
    #[test]
    fn masks_change_findings_only(
        body in r"(\PC|[ \r\n\t]|ada@b\.de|@ada|Ada|李明|e\u{301}|0170 1234567|https://x\.org/ä){0,40}",
        pattern in 0..PATTERNS.len(),
    ) {
        let masker = &MASKERS[pattern];
        let masked = masker.mask("t", &body).unwrap_or_else(|| body.clone());
        prop_assert_eq!(masked.chars().count(), body.chars().count());
        let found = masker.find("t", &body);
        for ((at, before), after) in body.char_indices().zip(masked.chars()) {
            let inside = found.iter().any(|one| one.at.contains(&at));
            let wanted = if inside && !before.is_whitespace() { MASK } else { before };
            prop_assert_eq!(after, wanted, "at {}", at);
        }
        prop_assert!(found.iter().all(|one| !one.at.is_empty()));
        prop_assert_eq!(masker.mask("t", &body), masker.mask("t", &body));
    }
}
