//! Puts a standalone SVG into the page: ids must not clash with those of other figures, and nothing may act or load.

use std::borrow::Cow;

/// The drawing with every id prefixed and a name on its root, ready to stand in an HTML document.
///
/// `None` when it isn't what our figures are: unbalanced quotes, or an element that runs or embeds something. The caller then
/// links to the file instead.
pub(super) fn inline(svg: &str, prefix: &str, name: &str) -> Option<String> {
    let start = svg.find("<svg")?;
    let mut rest = &svg[start..];
    let mut out = String::with_capacity(svg.len() + svg.len() / 8);
    let mut root = true;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = &comment[comment.find("-->")? + 3..];
        } else if rest.starts_with("<?") || rest.starts_with("<!") {
            rest = &rest[rest.find('>')? + 1..];
        } else if rest.starts_with("</") {
            let end = rest.find('>')? + 1;
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        } else {
            rest = tag(rest, &mut out, prefix, root.then_some(name))?;
            root = false;
        }
    }
    // Text after the root element would stand in the page.
    Some(out)
}

/// Copies one opening tag and returns what follows it. `root` is the name to give it, when it is the outermost.
fn tag<'a>(text: &'a str, out: &mut String, prefix: &str, root: Option<&str>) -> Option<&'a str> {
    let name_end = text.find(|c: char| c.is_ascii_whitespace() || c == '>' || c == '/')?;
    let element = &text[1..name_end];
    let allowed = !element.is_empty() && element.bytes().all(|b| b.is_ascii_alphanumeric());
    if !allowed
        || matches!(
            element,
            "script" | "foreignObject" | "image" | "iframe" | "a" | "set" | "animate"
        )
    {
        return None;
    }
    out.push_str(&text[..name_end]);
    if let Some(name) = root {
        out.push_str(" role=\"img\" aria-label=\"");
        push_escaped(out, name);
        out.push('"');
    }
    let mut rest = &text[name_end..];
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('>') {
            out.push('>');
            return Some(after);
        }
        if let Some(after) = rest.strip_prefix("/>") {
            out.push_str("/>");
            return Some(after);
        }
        let equals = rest.find('=')?;
        let attribute = rest[..equals].trim_end();
        let value = rest[equals + 1..].trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let end = value[1..].find(quote)? + 1;
        push_attribute(
            out,
            attribute,
            &value[1..end],
            quote,
            prefix,
            root.is_some(),
        )?;
        rest = &value[end + 1..];
    }
}

fn push_attribute(
    out: &mut String,
    name: &str,
    value: &str,
    quote: char,
    prefix: &str,
    root: bool,
) -> Option<()> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b':' | b'_');
    if name.is_empty() || !name.bytes().all(plain) {
        return None;
    }
    let names_root = matches!(
        name,
        "role" | "aria-label" | "aria-labelledby" | "aria-describedby"
    );
    // The page names the root itself. Handlers and other namespaces have no place in a drawing.
    if (root && names_root) || name.starts_with("on") || name.starts_with("xmlns") {
        return Some(());
    }
    let value = match name {
        "id" => Cow::Owned(format!("{prefix}-{value}")),
        "aria-labelledby" | "aria-describedby" => {
            let ids: Vec<String> = value
                .split_whitespace()
                .map(|id| format!("{prefix}-{id}"))
                .collect();
            Cow::Owned(ids.join(" "))
        }
        "href" | "xlink:href" => match value.strip_prefix('#') {
            Some(id) => Cow::Owned(format!("#{prefix}-{id}")),
            None => return Some(()),
        },
        _ if value.contains("url(#") => {
            Cow::Owned(value.replace("url(#", &format!("url(#{prefix}-")))
        }
        _ => Cow::Borrowed(value),
    };
    out.push(' ');
    out.push_str(name);
    out.push('=');
    out.push(quote);
    out.push_str(&value);
    out.push(quote);
    Some(())
}

fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_and_what_points_at_them_are_prefixed() {
        let svg = r##"<?xml version="1.0"?><!DOCTYPE svg><!-- by us --><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" aria-labelledby="t"><title id="t">id="t" url(#g)</title><use href="#g"/><path id='g' fill="url(#g)" aria-describedby="t g"></path></svg>"##;
        let expected = r##"<svg role="img" aria-label="A &quot;name&quot;" viewBox="0 0 9 9"><title id="f-t">id="t" url(#g)</title><use href="#f-g"/><path id='f-g' fill="url(#f-g)" aria-describedby="f-t f-g"></path></svg>"##;
        assert_eq!(inline(svg, "f", "A \"name\"").expect("inlines"), expected);
    }

    #[test]
    fn what_acts_or_loads_is_refused_or_dropped() {
        for element in [
            "<script>",
            "<script/>",
            "<foreignObject>",
            "<image href='x'/>",
            "<a href='#x'>",
            "<svg:script>",
        ] {
            assert_eq!(
                inline(&format!("<svg>{element}</svg>"), "f", "n"),
                None,
                "{element}"
            );
        }
        let kept = inline(
            "<svg onload=\"x()\"><use href=\"https://e.x/#a\"/></svg>",
            "f",
            "n",
        );
        assert_eq!(
            kept.as_deref(),
            Some("<svg role=\"img\" aria-label=\"n\"><use/></svg>")
        );
        assert_eq!(inline("<svg width=\"1></svg>", "f", "n"), None);
        assert_eq!(inline("no drawing", "f", "n"), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(svg in "(<svg|<g|>|/>|</svg>|<!--|-->|id=\"a\"|'|\"|=| |url\\(#|é|<)*") {
            let _ = inline(&svg, "f", "n");
        }
    }
}
