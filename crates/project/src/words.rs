//! Wording of messages.

/// Formats a count: "1 text", "2 texts".
pub fn counted(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// Formats a number with a fixed number of decimals and a real minus sign, but none before a rounded zero;
/// the same as in the window.
pub fn decimal(value: f64, decimals: usize) -> String {
    let written = format!("{value:.decimals$}");
    match written.strip_prefix('-') {
        Some(zero) if !zero.contains(|c| matches!(c, '1'..='9')) => zero.to_owned(),
        Some(size) => format!("−{size}"),
        None => written,
    }
}

/// Like [`decimal`], with a plus for positive values.
pub fn signed(value: f64, decimals: usize) -> String {
    let written = decimal(value, decimals);
    let above = value > 0.0 && written.contains(|c| matches!(c, '1'..='9'));
    if above { format!("+{written}") } else { written }
}

/// Formats an interval such as "−0.24 to 0.10", each end with `end`. Where the interval excludes 0, no end
/// is rounded to 0: more decimals are used then.
pub fn interval((low, high): (f64, f64), decimals: usize, end: fn(f64, usize) -> String) -> String {
    let nearest = low.abs().min(high.abs());
    let mut decimals = decimals;
    while low * high > 0.0 && decimals < 9 && nearest < 0.5 * 0.1_f64.powi(decimals as i32) {
        decimals += 1;
    }
    format!("{} to {}", end(low, decimals), end(high, decimals))
}

/// Formats a p-value: "p 0.031", "p < 0.001".
pub fn p_value(p: Option<f64>) -> String {
    match p {
        Some(p) if p < 0.001 => "p < 0.001".to_owned(),
        Some(p) => format!("p {p:.3}"),
        None => "not tested".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_use_a_minus_sign_except_for_zero() {
        assert_eq!(
            [decimal(-0.16, 2), decimal(-0.004, 2), decimal(1.0, 0)],
            ["−0.16", "0.00", "1"].map(str::to_owned)
        );
        assert_eq!(
            [signed(0.16, 2), signed(-0.16, 1), signed(0.004, 2)],
            ["+0.16", "−0.2", "0.00"].map(str::to_owned)
        );
    }

    #[test]
    fn interval_excluding_zero_does_not_round_to_zero() {
        assert_eq!(interval((-0.24, 0.1), 2, decimal), "−0.24 to 0.10");
        assert_eq!(interval((0.0012, 0.4), 2, decimal), "0.001 to 0.400");
        assert_eq!(interval((-0.4, -0.00004), 2, signed), "−0.40000 to −0.00004");
        assert_eq!(interval((-0.001, 0.4), 2, signed), "0.00 to +0.40");
    }
}
