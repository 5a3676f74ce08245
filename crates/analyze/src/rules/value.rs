//! Values of a rules file: text, numbers, sizes, lists, each with what is wrong with it.

use toml::de::DeValue;

/// A text.
pub(super) fn text(value: &DeValue<'_>) -> Result<String, String> {
    match value.as_str() {
        Some(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Some(_) => Err("an empty text".to_owned()),
        None => Err(format!("a text is wanted, not {}", kind(value))),
    }
}

/// A text, or a list of texts.
pub(super) fn texts(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    match value.as_array() {
        None => text(value).map(|t| vec![t]),
        Some(list) if list.is_empty() => Err("an empty list".to_owned()),
        Some(list) => list.iter().map(|v| text(v.as_ref())).collect(),
    }
}

/// A number above zero.
pub(super) fn above_zero(value: &DeValue<'_>) -> Result<f64, String> {
    match number(value)? {
        x if x > 0.0 => Ok(x),
        _ => Err("a number above zero is wanted".to_owned()),
    }
}

/// A share, 0 to 1.
pub(super) fn share(value: &DeValue<'_>) -> Result<f64, String> {
    match number(value)? {
        x if (0.0..=1.0).contains(&x) => Ok(x),
        x if x > 1.0 && x <= 100.0 => Err(format!(
            "a share from 0 to 1 is wanted: {} for {x} %",
            x / 100.0
        )),
        _ => Err("a share from 0 to 1 is wanted".to_owned()),
    }
}

/// A whole number from 1.
pub(super) fn count(value: &DeValue<'_>) -> Result<u32, String> {
    match number(value)? {
        x if x.fract() == 0.0 && x >= 1.0 && x <= f64::from(u32::MAX) => Ok(x as u32),
        _ => Err("a whole number from 1 is wanted".to_owned()),
    }
}

/// A size: bytes, or a text such as "64 MiB".
pub(super) fn size(value: &DeValue<'_>) -> Result<u64, String> {
    const WANTED: &str = "a size is wanted: bytes, or a text such as \"64 MiB\"";
    if let Some(text) = value.as_str() {
        return parse_size(text).ok_or_else(|| WANTED.to_owned());
    }
    match number(value).map_err(|_| WANTED.to_owned())? {
        x if x.fract() == 0.0 && (0.0..=MOST_BYTES).contains(&x) => Ok(x as u64),
        _ => Err(WANTED.to_owned()),
    }
}

/// Whole numbers to here are exact in double precision.
const MOST_BYTES: f64 = 9_007_199_254_740_992.0;

fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let unit = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" | "b" | "bytes" => 1.0,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        _ => return None,
    };
    let bytes = number * unit;
    (bytes.fract() == 0.0 && (0.0..=MOST_BYTES).contains(&bytes)).then_some(bytes as u64)
}

fn number(value: &DeValue<'_>) -> Result<f64, String> {
    let wanted = || format!("a number is wanted, not {}", kind(value));
    let parsed = if let Some(i) = value.as_integer() {
        i64::from_str_radix(&i.as_str().replace('_', ""), i.radix())
            .ok()
            .map(|n| n as f64)
    } else if let Some(f) = value.as_float() {
        f.as_str().replace('_', "").parse().ok()
    } else {
        None
    };
    parsed.filter(|x: &f64| x.is_finite()).ok_or_else(wanted)
}

fn kind(value: &DeValue<'_>) -> String {
    match value.type_str() {
        "array" => "a list".to_owned(),
        "integer" | "float" => "this number".to_owned(),
        "string" => "a text".to_owned(),
        "boolean" => "true or false".to_owned(),
        other => format!("a {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_both_systems() {
        assert_eq!(
            ["8192", "64 MiB", "1.5KiB", "25 MB", "0 b"].map(parse_size),
            [
                Some(8_192),
                Some(67_108_864),
                Some(1_536),
                Some(25_000_000),
                Some(0)
            ]
        );
        for wrong in [
            "",
            "MiB",
            "-1",
            "1 x",
            "1.0001 KiB",
            "1e3",
            "9999999 GiB GiB",
            "1..2",
        ] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }
}
