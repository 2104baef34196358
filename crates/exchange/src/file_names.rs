//! Names of files derived from the names of annotators.

/// Names that Windows reserves for devices, whatever extension follows.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
/// The longest stem of a file's name, in bytes.
const MAX_STEM_BYTES: usize = 200;

/// Returns `name` as the stem of a file's name: it cannot leave the folder, and is valid on every system.
pub fn file_stem(name: &str) -> String {
    let safe = |c: char| !c.is_control() && !"/\\:*?\"<>|".contains(c);
    let mut stem: String = name.chars().map(|c| if safe(c) { c } else { '_' }).collect();
    while stem.len() > MAX_STEM_BYTES {
        stem.pop();
    }
    // A name must not consist of dots only, nor be one that a system would truncate.
    let trimmed = stem.trim_matches(|c: char| c == '.' || c.is_whitespace());
    if trimmed.len() != stem.len() {
        stem = format!("_{trimmed}_");
    }
    if stem.is_empty() {
        stem.push('_');
    }
    if is_device(&stem) {
        stem.insert(0, '_');
    }
    stem
}

/// Folds a name so that two names of the same file on a case-insensitive file system become equal.
pub fn without_case(name: &str) -> String {
    // Upper case first: some lower-case letters share one.
    name.to_uppercase().to_lowercase()
}

fn is_device(stem: &str) -> bool {
    let first = stem.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let port = |name: &str| {
        let rest = first.strip_prefix(name).map(|rest| rest.chars().collect::<Vec<_>>());
        rest.is_some_and(|rest| matches!(rest.as_slice(), ['0'..='9' | '¹' | '²' | '³']))
    };
    DEVICES.contains(&first.as_str()) || port("com") || port("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("ana", "ana")]
    #[case::mail_address("a.b@example.org", "a.b@example.org")]
    #[case::path_upwards("../../etc/passwd", "__.._etc_passwd_")]
    #[case::parent("..", "__")]
    #[case::nothing("", "_")]
    #[case::absolute_path("/abs", "_abs")]
    #[case::drive("C:\\x", "C__x")]
    #[case::device("nul", "_nul")]
    #[case::device_in_capitals("CON", "_CON")]
    #[case::device_with_space_and_ending("aux .x", "_aux .x")]
    #[case::port_with_ending("COM1.txt", "_COM1.txt")]
    #[case::port_with_superscript("lpt²", "_lpt²")]
    #[case::console_input("CONIN$", "_CONIN$")]
    #[case::no_port("com10", "com10")]
    #[case::no_device("console", "console")]
    #[case::dot_at_the_end("dot.", "_dot_")]
    #[case::arabic("آنا", "آنا")]
    fn names_like_paths_or_devices_are_made_safe(#[case] name: &str, #[case] stem: &str) {
        assert_eq!(file_stem(name), stem);
    }

    #[test]
    fn long_name_is_cut() {
        assert!(file_stem(&"ü".repeat(500)).len() <= MAX_STEM_BYTES);
    }

    #[test]
    fn names_are_compared_without_case() {
        for (a, b) in [("Ana", "ana"), ("ÅSE", "åse"), ("ΣΟΦΟΣ", "σοφος"), ("straße", "STRASSE")]
        {
            assert_eq!(without_case(a), without_case(b), "{a}");
        }
        assert_ne!(without_case("ana"), without_case("anna"));
    }
}
