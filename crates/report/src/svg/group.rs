//! Writes elements small: what neighbours share is said once.

use std::fmt::Write as _;

use super::finish::Element;

/// Attributes that children inherit.
const INHERITED: [&str; 8] = [
    "fill",
    "stroke",
    "stroke-width",
    "fill-opacity",
    "stroke-opacity",
    "font-size",
    "font-weight",
    "text-anchor",
];

/// From this many neighbours on, a group is shorter than repeating.
const GROUP_FROM: usize = 3;

type Style = Vec<(String, String)>;

fn split(element: &Element) -> (Style, Element) {
    let (style, own) = element
        .attributes
        .iter()
        .cloned()
        .partition(|(key, _)| INHERITED.contains(&key.as_str()));
    let rest = Element {
        attributes: own,
        ..element.clone()
    };
    (style, rest)
}

/// Writes the elements in order, neighbours of one style as a group, plain rectangles among them as one path.
pub(super) fn write(elements: &[Element], out: &mut String) {
    let parts: Vec<(Style, Element)> = elements.iter().map(split).collect();
    for run in parts.chunk_by(|a, b| a.0 == b.0) {
        let style = &run[0].0;
        let plain = run.iter().all(|(_, e)| e.tag == "rect" && e.note.is_none());
        if run.len() >= GROUP_FROM && plain {
            write_rectangles(style, run, out);
        } else if run.len() >= GROUP_FROM {
            out.push_str("<g");
            write_attributes(style, out);
            out.push('>');
            for (_, element) in run {
                element.write(out);
            }
            out.push_str("</g>");
        } else {
            for (style, element) in run {
                let mut whole = element.clone();
                whole.attributes.extend(style.iter().cloned());
                whole.write(out);
            }
        }
        out.push('\n');
    }
}

fn write_attributes(attributes: &Style, out: &mut String) {
    for (key, value) in attributes {
        let _ = write!(out, " {key}=\"{value}\"");
    }
}

/// Rectangles as one path of relative moves, a third of the bytes. Edges are kept crisp, else neighbouring cells show seams.
fn write_rectangles(style: &Style, run: &[(Style, Element)], out: &mut String) {
    out.push_str("<path shape-rendering=\"crispEdges\"");
    write_attributes(style, out);
    out.push_str(" d=\"");
    let number = |element: &Element, name: &str| -> i64 {
        element.get(name).and_then(|v| v.parse().ok()).unwrap_or(0)
    };
    let mut at: Option<(i64, i64)> = None;
    for (_, element) in run {
        let (x, y) = (number(element, "x"), number(element, "y"));
        let (w, h) = (number(element, "width"), number(element, "height"));
        // Closing a subpath returns to its start, from which the next move counts.
        let _ = match at {
            None => write!(out, "M{x} {y}"),
            Some((x0, y0)) => write!(out, "m{} {}", x - x0, y - y0),
        };
        let _ = write!(out, "h{w}v{h}h{}z", -w);
        at = Some((x, y));
    }
    out.push_str("\"/>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x: i32, fill: &str, note: Option<&str>) -> Element {
        let pairs = [
            ("x", x.to_string()),
            ("y", "5".into()),
            ("width", "9".into()),
            ("height", "8".into()),
            ("fill", fill.into()),
        ];
        Element {
            tag: "rect".into(),
            attributes: pairs.into_iter().map(|(k, v)| (k.to_string(), v)).collect(),
            text: None,
            note: note.map(str::to_owned),
        }
    }

    fn written(elements: &[Element]) -> String {
        let mut out = String::new();
        write(elements, &mut out);
        out
    }

    #[test]
    fn rectangles_become_a_path() {
        let cells = [
            rect(10, "#1", None),
            rect(30, "#1", None),
            rect(20, "#1", None),
        ];
        assert_eq!(
            written(&cells),
            "<path shape-rendering=\"crispEdges\" fill=\"#1\" d=\"M10 5h9v8h-9zm20 0h9v8h-9zm-10 0h9v8h-9z\"/>\n"
        );
    }

    #[test]
    fn notes_keep_their_element_and_order_stays() {
        let cells = [
            rect(1, "#1", None),
            rect(2, "#1", Some("n")),
            rect(3, "#1", None),
            rect(4, "#2", None),
        ];
        assert_eq!(
            written(&cells),
            "<g fill=\"#1\"><rect x=\"1\" y=\"5\" width=\"9\" height=\"8\"/>\
             <rect x=\"2\" y=\"5\" width=\"9\" height=\"8\"><title>n</title></rect>\
             <rect x=\"3\" y=\"5\" width=\"9\" height=\"8\"/></g>\n\
             <rect x=\"4\" y=\"5\" width=\"9\" height=\"8\" fill=\"#2\"/>\n"
        );
    }
}
