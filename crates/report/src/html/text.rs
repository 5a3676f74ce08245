//! Text from the input, made fit to be looked at. Markup is the templates' affair (they escape); this is about what escaping
//! leaves: control characters, characters that turn the direction of writing, and sheer length.

/// Characters of a name that are shown.
const NAME: usize = 72;
/// Characters of a sentence that are shown.
const SENTENCE: usize = 1_200;

/// A name of something: one line, bounded; what is empty is said to be.
pub(super) fn name(text: &str) -> String {
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    clamp(text, NAME)
}

/// A sentence or a path: bounded, but generously.
pub(super) fn sentence(text: &str) -> String {
    clamp(text, SENTENCE)
}

/// The first `most` characters with everything invisible made visible; the end of a long text stays too, since names that share
/// a long beginning differ there.
fn clamp(text: &str, most: usize) -> String {
    let tail = most / 6;
    let length = text.chars().count();
    if length <= most {
        return text.chars().map(Shown).collect();
    }
    let head = text.chars().take(most - tail);
    let end = text.chars().skip(length - tail);
    let mut shown: String = head.map(Shown).collect();
    shown.push('…');
    shown.extend(end.map(Shown));
    shown
}

/// A character as it is shown: escapes in ASCII, since fonts for the pictures of control characters are rare.
struct Shown(char);

impl FromIterator<Shown> for String {
    fn from_iter<I: IntoIterator<Item = Shown>>(characters: I) -> Self {
        let mut text = Self::new();
        text.extend(characters);
        text
    }
}

impl Extend<Shown> for String {
    fn extend<I: IntoIterator<Item = Shown>>(&mut self, characters: I) {
        for Shown(c) in characters {
            match c {
                '\t' => self.push_str("\\t"),
                '\r' => self.push_str("\\r"),
                '\n' => self.push_str("\\n"),
                c if c.is_control() => self.push_str(&format!("\\x{:02x}", c as u32)),
                c if is_invisible(c) => self.push_str(&format!("\\u{{{:x}}}", c as u32)),
                c => self.push(c),
            }
        }
    }
}

/// Controls, noncharacters (HTML forbids both) and what changes the direction of the text around it or can't be seen.
fn is_invisible(c: char) -> bool {
    let code = c as u32;
    c.is_control()
        || (0xfdd0..=0xfdef).contains(&code)
        || code & 0xfffe == 0xfffe
        || matches!(
            c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(name("a\u{0}b\u{1b}[31m\u{7f}"), "a\\x00b\\x1b[31m\\x7f");
        assert_eq!(name("a\r\n\tb"), "a\\r\\n\\tb");
        assert_eq!(name("\u{202e}gnp.exe"), "\\u{202e}gnp.exe");
        assert_eq!(name("\u{9b}"), "\\x9b");
        assert_eq!(name(""), "(empty)");
        assert_eq!(name("gpu-001 äöü עברית 漢字"), "gpu-001 äöü עברית 漢字");
    }

    #[test]
    fn what_is_long_keeps_both_ends() {
        let long = format!("head{}tail", "x".repeat(10_000));
        let shown = name(&long);
        assert_eq!(shown.chars().count(), NAME + 1);
        assert!(shown.starts_with("headx") && shown.ends_with("xtail"));
        assert!(sentence(&long).chars().count() <= SENTENCE + 1);
        assert_eq!(sentence("short"), "short");
    }

    proptest! {
        #[test]
        fn nothing_invisible_is_left(text in any::<String>()) {
            for c in sentence(&text).chars() {
                prop_assert!(!is_invisible(c));
            }
        }
    }
}
