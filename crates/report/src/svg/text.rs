//! How wide text is, and how to make it fit.
//!
//! Readers see the first sans-serif that their machine has. Widths are those of `DejaVu Sans`, the widest of the common
//! ones (Helvetica, Arial, Liberation, Roboto and Segoe are narrower, Helvetica by 9 %), so that what fits here fits everywhere.

/// Advance widths of the printable ASCII characters in thousandths of the font size, from the font's `hmtx` table.
const REGULAR: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// The same of the bold face.
const BOLD: [u16; 95] = [
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696,
    696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683,
    683, 821, 837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771,
    724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665,
    343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
];

const ELLIPSIS: char = '…';

fn advance(c: char, bold: bool) -> f64 {
    let code = c as u32;
    let thousandths = match c {
        ' '..='~' => {
            let table = if bold { &BOLD } else { &REGULAR };
            table[(code - 32) as usize]
        }
        '\u{a0}' | '·' => 380,
        'µ' | '–' => 736,
        '×' | '≥' | '≤' | '→' | '−' | '≈' => 838,
        // Latin, Greek and Cyrillic letters: none is wider than an em; whole-width scripts fill it, some symbols exceed it.
        _ if code < 0x1100 => 1000,
        _ if c == ELLIPSIS => 1000,
        _ => 1300,
    };
    f64::from(thousandths) / 1000.0
}

/// Width of a line of text at a font size, in the unit of the size.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    text.chars().map(|c| advance(c, bold)).sum::<f64>() * size
}

/// Replaces what may not stand in XML or would disturb its surroundings: control characters, non-characters, and
/// marks that turn the direction of writing.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' | '\n' | '\r' => ' ',
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                '\u{fffd}'
            }
            '\u{fdd0}'..='\u{fdef}' => '\u{fffd}',
            c if c.is_control() || (c as u32) & 0xFFFE == 0xFFFE => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// Cleans and cuts to at most `most` characters, an ellipsis in the middle standing for what is gone.
pub(crate) fn clip(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return clean(text);
    }
    let kept = most.saturating_sub(1);
    let tail = kept / 2;
    let mut out: String = text.chars().take(kept - tail).collect();
    out.push(ELLIPSIS);
    out.extend(text.chars().skip(count - tail));
    clean(&out)
}

/// Cleans and cuts to a width, an ellipsis in the middle standing for what is gone: the ends of names tell them apart.
pub(crate) fn shorten(text: &str, most: f64, size: f64, bold: bool) -> String {
    // Nothing narrower than 0.25 em is drawn, so more characters than this never fit.
    let chars = ((most / size / 0.25).max(1.0) as usize).min(2_000);
    let mut chars = text.chars().count().min(chars);
    loop {
        let cut = clip(text, chars);
        if chars <= 1 || width(&cut, size, bold) <= most {
            return cut;
        }
        chars -= 1;
    }
}

/// Breaks text into lines of at most a width, at spaces; a longer word is shortened.
pub(crate) fn wrap(text: &str, most: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in clip(text, 4_000).split(' ').filter(|w| !w.is_empty()) {
        if let Some(line) = lines.last_mut()
            && width(line, size, false) + width(word, size, false) + 0.32 * size <= most
        {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(shorten(word, most, size, false));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // As Chromium's measureText gives them for 100 px DejaVu Sans without kerning.
        for (text, bold, measured) in [
            ("iiii", false, 111.1),
            ("WWWW", false, 395.5),
            ("64 MiB", false, 341.7),
            ("64 MiB", true, 384.0),
            ("1.05×", false, 306.4),
        ] {
            assert!((width(text, 100.0, bold) - measured).abs() < 0.5, "{text}");
        }
        // One width serves both faces: 370.2 in the regular one.
        let micros = width("12.3 µs", 100.0, false);
        assert!((370.2..=381.0).contains(&micros), "{micros}");
    }

    #[test]
    fn cuts_in_the_middle() {
        assert_eq!(clip("abcdefgh", 5), "ab…gh");
        assert_eq!(clip("abc", 5), "abc");
        assert_eq!(clip("abc", 0), "…");
        let long = "gpu-".to_string() + &"x".repeat(10_000) + "-17:3";
        let short = shorten(&long, 100.0, 12.0, false);
        assert!(
            short.starts_with("gpu-") && short.ends_with("17:3"),
            "{short}"
        );
        assert!(width(&short, 12.0, false) <= 100.0);
    }

    #[test]
    fn removes_what_xml_forbids() {
        assert_eq!(
            clean("a\u{0}b\u{1b}[31m\u{fffe}\u{202e}\n"),
            "a\u{fffd}b\u{fffd}[31m\u{fffd}\u{fffd} "
        );
    }

    #[test]
    fn lines_fit() {
        let text = "one two three four five six seven ".to_string() + &"y".repeat(300);
        let lines = wrap(&text, 80.0, 12.0);
        assert!(lines.len() >= 4);
        assert!(
            lines.iter().all(|l| width(l, 12.0, false) <= 80.0),
            "{lines:?}"
        );
    }
}
