//! Writes elements small: what neighbours share is said once.

use std::fmt::Write as _;

use super::finish::{Attribute, Element, write_attribute};

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

fn is_inherited(key: &str) -> bool {
    INHERITED.contains(&key)
}

/// The attributes that children inherit.
fn style<'e>(element: &'e Element<'_>) -> impl Iterator<Item = &'e Attribute<'e>> {
    element.attributes.iter().filter(|a| is_inherited(a.0))
}

/// Writes the elements in order, neighbours of one style as a group, plain rectangles among them as one path.
pub(super) fn write(elements: &[Element<'_>], out: &mut String) {
    for run in elements.chunk_by(|a, b| style(a).eq(style(b))) {
        let plain = run.iter().all(|e| e.tag == "rect" && e.note.is_none());
        if run.len() >= GROUP_FROM && plain {
            write_rectangles(run, out);
        } else if run.len() >= GROUP_FROM {
            out.push_str("<g");
            style(&run[0]).for_each(|attribute| write_attribute(attribute, out));
            out.push('>');
            for element in run {
                element.write(|key| !is_inherited(key), out);
            }
            out.push_str("</g>");
        } else {
            for element in run {
                element.write(|_| true, out);
            }
        }
        out.push('\n');
    }
}

/// Rectangles as one path of relative moves, a third of the bytes. Edges are kept crisp, else neighbouring cells show seams.
fn write_rectangles(run: &[Element<'_>], out: &mut String) {
    out.push_str("<path shape-rendering=\"crispEdges\"");
    style(&run[0]).for_each(|attribute| write_attribute(attribute, out));
    out.push_str(" d=\"");
    let number = |element: &Element<'_>, name: &str| -> i64 {
        element.get(name).and_then(|v| v.parse().ok()).unwrap_or(0)
    };
    let mut at: Option<(i64, i64)> = None;
    for element in run {
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

    fn rect<'r>(x: i32, fill: &'r str, note: Option<&'r str>) -> Element<'r> {
        let pairs = [
            ("x", x.to_string()),
            ("y", "5".to_owned()),
            ("width", "9".to_owned()),
            ("height", "8".to_owned()),
            ("fill", fill.to_owned()),
        ];
        Element {
            tag: "rect",
            attributes: pairs.into_iter().map(|(k, v)| (k, v.into())).collect(),
            text: None,
            note,
        }
    }

    fn written(elements: &[Element<'_>]) -> String {
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
