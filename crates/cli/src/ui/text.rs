//! Text and numbers for people. Text from dumps is untrusted: nothing in it may act on the terminal.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Makes visible whatever would act on the terminal or hide in it: control characters as escapes such as `\u{1b}`,
/// and so the marks that reorder text or have no width.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// JSON as a terminal may safely show it: what `visible` would escape is escaped as JSON does, which changes no value.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let acts = |c: char| is_hidden(c) && c != '\n';
    if !json.contains(acts) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        if acts(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a string can't fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Untrusted text made visible and no wider than `width` columns.
pub fn clipped(text: &str, width: usize) -> String {
    let shown = visible(text);
    if shown.width() <= width {
        return shown.into_owned();
    }
    let mut clipped = String::new();
    let mut used = 1;
    for c in shown.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        clipped.push(c);
    }
    clipped.push('…');
    clipped
}

/// Breaks text into lines of at most `width` columns, between words where there is room.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        let mut gap = usize::from(used > 0);
        if used + gap + word.width() > width && used > 0 {
            lines.push(String::new());
            (used, gap) = (0, 0);
        }
        if let (1, Some(line)) = (gap, lines.last_mut()) {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            let columns = c.width().unwrap_or(0);
            if used + columns > width {
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(c);
            }
            used += columns;
        }
    }
    lines
}

/// A count with its digits in groups: `2,500,000`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count and its noun: `1 file`, `2,000 files`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// A count in two digits or so: `1.2 M`.
pub fn abbreviated(n: u64) -> String {
    let scaled = |unit: u64, name: &str| {
        let tenths = n / (unit / 10);
        if tenths < 100 {
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        } else {
            format!("{} {name}", tenths / 10)
        }
    };
    match n {
        0..=999 => n.to_string(),
        1_000..=999_999 => scaled(1_000, "k"),
        1_000_000..=999_999_999 => scaled(1_000_000, "M"),
        _ => scaled(1_000_000_000, "G"),
    }
}

/// Bytes in binary units: `512 B`, `8 KiB`, `1.5 MiB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    // The largest unit that fits: 1024^(power + 1) ≤ n.
    let power = usize::try_from(n.ilog2() / 10 - 1).unwrap_or(0);
    let unit = 1_u64 << (10 * (power + 1));
    let name = UNITS.get(power).copied().unwrap_or("EiB");
    if n.is_multiple_of(unit) {
        format!("{} {name}", n / unit)
    } else {
        format!("{:.1} {name}", n as f64 / unit as f64)
    }
}

/// A share 0..1 as a percentage.
pub fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.0005 {
        return "<0.1 %".to_owned();
    }
    format!("{:.1} %", share * 100.0)
}

/// A share 0..1 as a percentage that says 100 only of the whole: rounded down.
pub fn percent_of_whole(share: f64) -> String {
    if share >= 1.0 {
        return "100 %".to_owned();
    }
    // The tiny addition undoes the binary representation of decimal shares: 0.29 × 1000 = 290 − 6e-14.
    format!("{:.1} %", (share * 1000.0 + 1e-9).floor() / 10.0)
}

/// A bandwidth in three significant digits or so.
pub fn bandwidth(gb_per_s: f64) -> String {
    match gb_per_s {
        x if x >= 99.95 => format!("{x:.0}"),
        x if x >= 9.995 => format!("{x:.1}"),
        x => format!("{x:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_acts_on_the_terminal() {
        assert_eq!(visible("TP group µ–日本"), "TP group µ–日本");
        assert_eq!(visible("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(visible("a\r\nb\tc\u{7f}"), "a\\r\\nb\\tc\\u{7f}");
        // C1: one character that terminals may take for ESC [.
        assert_eq!(visible("\u{9b}2J"), "\\u{9b}2J");
        // Right-to-left override, zero width.
        assert_eq!(visible("a\u{202e}b\u{200b}"), "a\\u{202e}b\\u{200b}");
    }

    #[test]
    fn json_keeps_its_values_when_it_is_made_visible() {
        let json = "{\n  \"a\": \"x\u{9b}\u{e0001}\u{7f}y\"\n}";
        let shown = visible_json(json);
        assert_eq!(shown, "{\n  \"a\": \"x\\u009b\\udb40\\udc01\\u007fy\"\n}");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(value(&shown), value(json));
    }

    #[test]
    fn clipping_counts_columns_and_not_bytes() {
        assert_eq!(clipped("abcdef", 6), "abcdef");
        assert_eq!(clipped("abcdefg", 6), "abcde…");
        assert_eq!(clipped("日本語日本語", 6), "日本…");
    }

    #[test]
    fn lines_break_between_words_and_inside_only_what_fits_nowhere() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghijkl mno", 8), ["abcdefgh", "ijkl mno"]);
        assert_eq!(wrapped("", 8), [""]);
    }

    #[test]
    fn counts_are_grouped() {
        let shown = [0, 999, 1_000, 2_500_000].map(count);
        assert_eq!(shown, ["0", "999", "1,000", "2,500,000"]);
        assert_eq!(counted(1, "file", "files"), "1 file");
    }

    #[test]
    fn rates_are_short() {
        let shown = [999, 1_250, 99_999, 1_000_000, 25_000_000_000].map(abbreviated);
        assert_eq!(shown, ["999", "1.2 k", "99 k", "1.0 M", "25 G"]);
    }

    #[test]
    fn sizes_are_exact_where_they_can_be() {
        let shown = [0, 1_023, 8_192, 1_536, 1 << 30, u64::MAX].map(bytes);
        assert_eq!(
            shown,
            ["0 B", "1023 B", "8 KiB", "1.5 KiB", "1 GiB", "16.0 EiB"]
        );
    }

    #[test]
    fn only_the_whole_is_a_hundred_percent() {
        let shown = [1.0, 0.9999, 0.29, 0.0].map(percent_of_whole);
        assert_eq!(shown, ["100 %", "99.9 %", "29.0 %", "0.0 %"]);
        assert_eq!(
            [0.0, 0.0001, 0.123].map(percent),
            ["0.0 %", "<0.1 %", "12.3 %"]
        );
    }

    #[test]
    fn bandwidths_have_three_digits() {
        let shown = [371.2, 99.96, 45.04, 9.5, 0.123].map(bandwidth);
        assert_eq!(shown, ["371", "100", "45.0", "9.50", "0.12"]);
    }
}
