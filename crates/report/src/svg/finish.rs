//! plotters' output → a drawing that stands alone: named, described, small, and readable on light and dark ground.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::canvas::{Canvas, Form, Rect, Shape};
use super::{Colour, backend, group, text};

/// The class of every drawing's root, for the style sheets of pages.
const CLASS: &str = "nccl-figure";

/// What a drawing is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meta<'a> {
    /// Unique among the drawings of a page; a name in the sense of XML.
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
}

/// An element as the backend wrote it, taken apart; attribute values and text are escaped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Element<'r> {
    pub(super) tag: &'r str,
    pub(super) attributes: Vec<Attribute<'r>>,
    pub(super) text: Option<&'r str>,
    pub(super) note: Option<&'r str>,
}

/// A key and its value.
pub(super) type Attribute<'r> = (&'r str, Cow<'r, str>);

impl Element<'_> {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.as_ref())
    }

    /// Writes it, with those of its attributes that are `wanted`.
    pub(super) fn write(&self, wanted: impl Fn(&str) -> bool, out: &mut String) {
        out.push('<');
        out.push_str(self.tag);
        for attribute in self.attributes.iter().filter(|a| wanted(a.0)) {
            write_attribute(attribute, out);
        }
        if self.text.is_none() && self.note.is_none() {
            out.push_str("/>");
            return;
        }
        out.push('>');
        if let Some(note) = self.note {
            let _ = write!(out, "<title>{}</title>", escape(note));
        }
        if let Some(text) = self.text {
            out.push_str(text);
        }
        let _ = write!(out, "</{}>", self.tag);
    }
}

/// Writes an attribute, with a space before it.
pub(super) fn write_attribute((key, value): &Attribute<'_>, out: &mut String) {
    for part in [" ", key, "=\"", value, "\""] {
        out.push_str(part);
    }
}

impl Canvas {
    /// The drawing as a complete SVG document of a width and height in pixels.
    pub(crate) fn finish(&self, width: f64, height: f64, meta: Meta<'_>) -> String {
        // Its own ground, so that a viewer without themes shows dark on light on any page.
        let mut ground = Self::default();
        ground.rect(Rect::new(0.0, 0.0, width, height), Colour::Surface);
        let shapes = || ground.shapes.iter().chain(&self.shapes);
        let raw = backend::draw(shapes(), width, height);
        let mut elements = parse(&raw);
        annotate(&mut elements, shapes());
        for element in &mut elements {
            tidy(element);
        }
        let style = style_sheet(&elements);

        let (width, height) = (width.round(), height.round());
        let units = backend::UNITS;
        let (id, title) = (meta.id, escape(&text::clip(meta.title, 300)));
        let description = escape(&text::clip(meta.description, 2_000));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{CLASS}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" font-family=\"Helvetica,Arial,'Liberation Sans',sans-serif\">\n\
             <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-desc\">{description}</desc>\n<style>{style}</style>\n",
            width * units,
            height * units,
        );
        group::write(&elements, &mut out);
        out.push_str("</svg>\n");
        out
    }
}

/// Takes the backend's lines apart: an element a line, a text's content on a line of its own.
fn parse(raw: &str) -> Vec<Element<'_>> {
    let mut elements: Vec<Element<'_>> = Vec::new();
    for line in raw.lines() {
        let Some(inside) = line.strip_prefix('<').filter(|l| !l.starts_with('/')) else {
            // Text is escaped, so a line that begins with "<" is never text.
            if let Some(Element { tag, text, .. }) = elements.last_mut()
                && *tag == "text"
                && !line.starts_with('<')
            {
                *text = Some(line);
            }
            continue;
        };
        let inside = inside.trim_end_matches('>').trim_end_matches('/');
        let (tag, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
        if tag == "svg" {
            continue;
        }
        let mut attributes = Vec::with_capacity(8);
        while let Some((key, after)) = rest.split_once("=\"") {
            let Some((value, next)) = after.split_once('"') else {
                break;
            };
            attributes.push((key.trim(), Cow::Borrowed(value)));
            rest = next;
        }
        elements.push(Element {
            tag,
            attributes,
            ..Element::default()
        });
    }
    elements
}

fn annotate<'r>(elements: &mut [Element<'r>], shapes: impl Iterator<Item = &'r Shape> + Clone) {
    // One element a shape; should the backend ever skip one, notes would slip to a neighbour.
    let as_many = elements.len() == shapes.clone().count();
    debug_assert!(as_many);
    if !as_many {
        return;
    }
    for (element, shape) in elements.iter_mut().zip(shapes) {
        element.note = shape.note.as_deref();
        if let Form::Rects(rects) = &shape.form {
            element.tag = "path";
            (element.attributes).retain(|(key, _)| !GEOMETRY.contains(key));
            // Else neighbouring cells show seams.
            let crisp = ("shape-rendering", Cow::Borrowed("crispEdges"));
            element.attributes.push(crisp);
            let outlines = ("d", Cow::Owned(outlines(rects)));
            element.attributes.push(outlines);
        }
    }
}

/// Attributes of a rectangle that a path hasn't.
const GEOMETRY: [&str; 4] = ["x", "y", "width", "height"];

/// Rectangles as the data of a path, of relative moves: closing a subpath returns to its start, from which the next move counts.
fn outlines(rects: &[Rect]) -> String {
    let mut out = String::with_capacity(24 * rects.len());
    let mut before: Option<(i32, i32)> = None;
    for r in rects {
        let (x, y) = (backend::units(r.x), backend::units(r.y));
        let (w, h) = (
            backend::units(r.right()) - x,
            backend::units(r.bottom()) - y,
        );
        let _ = match before {
            None => write!(out, "M{x} {y}"),
            Some((x0, y0)) => write!(out, "m{} {}", x - x0, y - y0),
        };
        let _ = write!(out, "h{w}v{h}h{}z", -w);
        before = Some((x, y));
    }
    out
}

/// Drops what says nothing, and places text by its baseline alone, which viewers agree on.
fn tidy(element: &mut Element<'_>) {
    let filled = element.get("fill").is_some_and(|fill| fill != "none");
    let closed = element.tag != "polyline" && element.tag != "line";
    element.attributes.retain_mut(|(key, value)| {
        match (*key, value.as_ref()) {
            ("dy" | "font-family", _)
            | ("opacity", "1")
            | ("stroke", "none")
            | ("text-anchor", "start") => return false,
            ("stroke-width", _) if filled && closed => return false,
            ("opacity", _) => {
                *key = if filled {
                    "fill-opacity"
                } else {
                    "stroke-opacity"
                };
            }
            ("font-size", _) => {
                let size: f64 = value.parse().unwrap_or(120.0);
                *value = Cow::Owned(format!("{}", size.round()));
            }
            ("points", _) => {
                if let Cow::Borrowed(points) = value {
                    *points = points.trim_end();
                }
            }
            _ => {}
        }
        true
    });
}

/// A rule for each colour that occurs. `light-dark()` follows the `color-scheme` that the page sets; a drawing that
/// is a document of its own follows the reader's preference.
fn style_sheet(elements: &[Element<'_>]) -> String {
    let used: BTreeSet<(&str, &str)> = elements
        .iter()
        .flat_map(|e| &e.attributes)
        .filter(|(key, _)| *key == "fill" || *key == "stroke")
        .map(|(key, value)| (*key, value.as_ref()))
        .collect();
    let mut seen = BTreeSet::new();
    let mut css = format!("svg.{CLASS}:root{{color-scheme:light dark}}");
    for shades in Colour::every().map(Colour::shades) {
        let light = format!("#{:06X}", shades.light);
        for property in ["fill", "stroke"] {
            if used.contains(&(property, light.as_str())) && seen.insert((property, shades.light)) {
                let _ = write!(
                    css,
                    ".{CLASS} [{property}=\"{light}\"]{{{property}:light-dark({light},#{:06X})}}",
                    shades.dark
                );
            }
        }
    }
    css
}

/// Escapes cleaned text for XML.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::Anchor;
    use super::*;

    const META: Meta<'_> = Meta {
        id: "f",
        title: "A & \u{1}B",
        description: "<\"c\">",
    };

    #[test]
    fn hostile_text_is_text() {
        let mut canvas = Canvas::default();
        let text = "</text><script>alert('1')</script>&\u{0}\u{8}\nx";
        canvas.text((10.0, 10.0), text, 12.0, Anchor::Start, Colour::Text);
        canvas
            .rect(Rect::new(1.0, 1.0, 5.0, 5.0), Colour::Series(0))
            .note("<b>&\u{7}");
        let svg = canvas.finish(100.0, 50.0, META);
        let document = roxmltree::Document::parse(&svg).expect("valid XML");
        let find = |tag: &str| -> Vec<String> {
            document
                .descendants()
                .filter(|n| n.has_tag_name(("http://www.w3.org/2000/svg", tag)))
                .map(|n| n.text().unwrap_or_default().to_owned())
                .collect()
        };
        assert_eq!(
            find("text"),
            ["</text><script>alert('1')</script>&\u{fffd}\u{fffd} x"]
        );
        assert_eq!(find("title"), ["A & \u{fffd}B", "<b>&\u{fffd}"]);
        assert_eq!(find("desc"), ["<\"c\">"]);
        assert!(find("script").is_empty());
    }

    #[test]
    fn coordinates_keep_a_tenth_of_a_pixel() {
        let mut canvas = Canvas::default();
        canvas
            .rect(Rect::new(1.26, 2.0, 10.0, 3.0), Colour::Transfer)
            .fade(0.5);
        canvas
            .text((10.0, 20.0), "µ", 12.5, Anchor::End, Colour::Muted)
            .bold();
        let svg = canvas.finish(100.0, 50.0, META);
        assert!(svg.contains("viewBox=\"0 0 1000 500\""), "{svg}");
        assert!(
            svg.contains("<rect x=\"13\" y=\"20\" width=\"100\" height=\"30\" fill-opacity=\"0.5\" fill=\"#3A7CA5\"/>"),
            "{svg}"
        );
        assert!(
            svg.contains("<text x=\"100\" y=\"245\" text-anchor=\"end\" font-size=\"125\" fill=\"#57606A\" font-weight=\"bold\">µ</text>"),
            "{svg}"
        );
    }

    #[test]
    fn both_themes_in_one_document() {
        let canvas = Canvas::default();
        let svg = canvas.finish(10.0, 10.0, META);
        assert!(
            svg.contains("[fill=\"#FFFFFF\"]{fill:light-dark(#FFFFFF,#16191D)}"),
            "{svg}"
        );
        assert!(!svg.contains("[stroke="), "{svg}");
    }

    #[test]
    fn numbers_that_are_none_stay_inside_the_file() {
        let mut canvas = Canvas::default();
        for v in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
            canvas.rect(Rect::new(v, v, v, v), Colour::Text);
            canvas.line((v, 0.0), (0.0, v), v, Colour::Axis);
            canvas.disc((v, v), v, Colour::Axis);
            canvas.text((v, v), "x", 12.0, Anchor::Start, Colour::Text);
        }
        let svg = canvas.finish(10.0, 10.0, META);
        assert!(roxmltree::Document::parse(&svg).is_ok());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
