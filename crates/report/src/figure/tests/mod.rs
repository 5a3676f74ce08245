//! Truths about all figures together.

mod degenerate;
mod layout;
mod look;
mod shown;
mod truth;

use roxmltree::{Document, Node};

use super::drawing::Figure;

/// An attribute of an element, its own or inherited.
fn inherited<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.ancestors().find_map(|n| n.attribute(name))
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    inherited(node, name)
        .and_then(|v| v.parse().ok())
        .unwrap_or_else(|| panic!("{name} of {node:?}"))
}

fn parse(figure: &Figure) -> Document<'_> {
    Document::parse(&figure.svg).unwrap_or_else(|e| panic!("{}: {e}", figure.id))
}

fn elements<'a>(document: &'a Document<'_>, tag: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    document
        .descendants()
        .filter(move |n| n.tag_name().name() == tag)
}

/// A text and the box around it, in pixels.
#[derive(Debug, Clone)]
struct Label {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Label {
    fn overlaps(&self, other: &Self) -> bool {
        const TOUCH: f64 = 0.3;
        self.left + TOUCH < other.right
            && other.left + TOUCH < self.right
            && self.top + TOUCH < other.bottom
            && other.top + TOUCH < self.bottom
    }
}

fn labels(document: &Document<'_>) -> Vec<Label> {
    elements(document, "text")
        .map(|node| {
            let text = node.text().unwrap_or_default().to_owned();
            let size = number(node, "font-size") / 10.0;
            let (x, y) = (number(node, "x") / 10.0, number(node, "y") / 10.0);
            let bold = inherited(node, "font-weight") == Some("bold");
            let width = crate::svg::width(&text, size, bold);
            let before = match inherited(node, "text-anchor") {
                Some("end") => width,
                Some("middle") => width / 2.0,
                _ => 0.0,
            };
            let (ascent, descent) = (0.74 * size, 0.2 * size);
            if node
                .attribute("transform")
                .is_some_and(|t| t.starts_with("rotate(270"))
            {
                // Turned about its anchor: what ran right runs up.
                let bottom = y + before;
                Label {
                    left: x - ascent,
                    right: x + descent,
                    top: bottom - width,
                    bottom,
                }
            } else {
                let left = x - before;
                Label {
                    left,
                    right: left + width,
                    top: y - ascent,
                    bottom: y + descent,
                }
            }
        })
        .collect()
}

/// Rectangles of a colour in pixels, alone or joined to paths: left, top, width, height.
fn cells(document: &Document<'_>, fill: &str) -> Vec<[f64; 4]> {
    let mut cells = Vec::new();
    for node in document
        .descendants()
        .filter(|n| inherited(*n, "fill") == Some(fill))
    {
        match node.tag_name().name() {
            "rect" => cells.push(["x", "y", "width", "height"].map(|a| number(node, a) / 10.0)),
            "path" => {
                // "M x y h w v h h -w z m dx dy …": a move counts from the corner of the rectangle before.
                let (mut x, mut y) = (0.0, 0.0);
                for part in node.attribute("d").expect("a path").split_terminator('z') {
                    let numbers: Vec<f64> = part
                        .split(['M', 'm', ' ', 'h', 'v'])
                        .filter(|s| !s.is_empty())
                        .map(|s| s.parse::<f64>().expect("a number") / 10.0)
                        .collect();
                    (x, y) = (x + numbers[0], y + numbers[1]);
                    cells.push([x, y, numbers[2], numbers[3]]);
                }
            }
            _ => {}
        }
    }
    cells
}
