//! Colours by role, each with a shade for light and one for dark pages.
//!
//! A drawing carries the light shade as a plain attribute, so that every viewer shows it; a style sheet inside the
//! drawing selects by that attribute and gives the pair of shades to viewers that know about themes.

/// How many colours tell series apart.
pub(crate) const SERIES: usize = 8;
/// Steps of the scale from nothing to bad.
pub(crate) const SEVERITY_STEPS: usize = 9;
/// Steps of the scale from small to large.
pub(crate) const MAGNITUDE_STEPS: usize = 10;
/// Steps on either side of the neutral one of the two-sided scale.
pub(crate) const DIVERGING_STEPS: usize = 5;

/// What a colour stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// The ground of the drawing.
    Surface,
    /// Titles and labels.
    Text,
    /// Lesser text.
    Muted,
    /// Axes.
    Axis,
    /// Grid lines.
    Grid,
    /// A faint band that sets neighbours apart.
    Band,
    /// Hatching where nothing is known.
    Hatch,
    /// Time before anything happens.
    Idle,
    /// Data in transfer.
    Transfer,
    /// Waiting for others.
    Waiting,
    /// Waiting of a pipeline's stages for each other.
    Order,
    /// Waiting because arrivals differ a little.
    Spread,
    /// Transfer slower than that of peers.
    Slow,
    /// A mark that calls for attention.
    Alert,
    /// A series, by its place.
    Series(usize),
    /// From nothing (0) to bad.
    Severity(usize),
    /// From small (0) to large.
    Magnitude(usize),
    /// Below (negative), at (0) and above the neutral value.
    Diverging(i32),
}

/// A colour on light and on dark ground, as `0xRRGGBB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shades {
    pub(super) light: u32,
    pub(super) dark: u32,
}

const fn shades(light: u32, dark: u32) -> Shades {
    Shades { light, dark }
}

/// Told apart under the common colour blindnesses: Okabe and Ito (2008) without its yellow, which fades on white,
/// plus wine and a darker olive after Paul Tol's "muted" scheme.
const SERIES_SHADES: [Shades; SERIES] = [
    shades(0x0072B2, 0x4BA3E3),
    shades(0xD55E00, 0xFF8C42),
    shades(0x009E73, 0x2EC99B),
    shades(0xCC79A7, 0xE79CC6),
    shades(0xE69F00, 0xF4BC48),
    shades(0x56B4E9, 0x9AD4F7),
    shades(0x882255, 0xC9648F),
    shades(0x8A8A2A, 0xC4C45C),
];

/// `ColorBrewer` "Oranges"; on dark ground the lightness runs the other way, so that nothing stays near the ground.
const SEVERITY_SHADES: [Shades; SEVERITY_STEPS] = [
    shades(0xFFF5EB, 0x2A2521),
    shades(0xFEE6CE, 0x452F1F),
    shades(0xFDD0A2, 0x683F20),
    shades(0xFDAE6B, 0x8F5020),
    shades(0xFD8D3C, 0xB8631F),
    shades(0xF16913, 0xDC7A27),
    shades(0xD94801, 0xF6994B),
    shades(0xA63603, 0xFFBD80),
    shades(0x7F2704, 0xFFE3C6),
];

/// After cividis (Nuñez, Anderton and Renslow, 2018): the same to eyes with and without colour blindness, on either ground.
const MAGNITUDE_SHADES: [Shades; MAGNITUDE_STEPS] = [
    shades(0x00224E, 0x1B3F78),
    shades(0x123570, 0x2B4F8C),
    shades(0x3B496C, 0x475A86),
    shades(0x575D6D, 0x626B84),
    shades(0x707173, 0x7B7D82),
    shades(0x8A8678, 0x938F80),
    shades(0xA59C74, 0xADA47C),
    shades(0xC3B369, 0xC8B86E),
    shades(0xE1CC55, 0xE4CF5A),
    shades(0xFEE838, 0xFEE93E),
];

/// `ColorBrewer` "Blues" from pale to deep, the lower half of the two-sided scale.
const BELOW_SHADES: [Shades; DIVERGING_STEPS] = [
    shades(0xDEEBF7, 0x22303F),
    shades(0x9ECAE1, 0x2B4D6E),
    shades(0x6BAED6, 0x3A75A8),
    shades(0x2171B5, 0x69AEE6),
    shades(0x08306B, 0xCBE4FA),
];

/// Which steps of the severity scale make the upper half of the two-sided scale.
const ABOVE_STEPS: [usize; DIVERGING_STEPS] = [1, 3, 4, 6, 8];

impl Colour {
    pub(super) fn shades(self) -> Shades {
        match self {
            Self::Surface => shades(0xFFFFFF, 0x16191D),
            Self::Text => shades(0x1F2328, 0xE6E8EB),
            Self::Muted => shades(0x57606A, 0xA3ABB5),
            Self::Axis => shades(0x8C959F, 0x6E7681),
            Self::Grid => shades(0xE4E7EB, 0x2B3037),
            Self::Band => shades(0xF4F6F8, 0x1E2228),
            Self::Hatch => shades(0xD5D9DE, 0x343A42),
            Self::Idle => shades(0xD0D4D9, 0x4A515B),
            Self::Transfer => shades(0x3A7CA5, 0x5AA5D6),
            Self::Waiting => shades(0xE8A33D, 0xF0B557),
            Self::Order => shades(0x7FA99B, 0x6E9A8B),
            Self::Spread => shades(0xF3DCB4, 0x7D6A45),
            Self::Slow => shades(0xB5446E, 0xE07A9F),
            Self::Alert => shades(0xC0261C, 0xFF6B5E),
            Self::Series(n) => SERIES_SHADES[n % SERIES],
            Self::Severity(n) => SEVERITY_SHADES[n.min(SEVERITY_STEPS - 1)],
            Self::Magnitude(n) => MAGNITUDE_SHADES[n.min(MAGNITUDE_STEPS - 1)],
            Self::Diverging(0) => shades(0xF3F3F1, 0x26282B),
            Self::Diverging(n) => {
                let step = (n.unsigned_abs() as usize).min(DIVERGING_STEPS) - 1;
                if n < 0 {
                    BELOW_SHADES[step]
                } else {
                    SEVERITY_SHADES[ABOVE_STEPS[step]]
                }
            }
        }
    }

    /// Every colour there is, in a fixed order.
    pub(super) fn every() -> impl Iterator<Item = Self> {
        let steps = DIVERGING_STEPS as i32;
        [
            Self::Surface,
            Self::Text,
            Self::Muted,
            Self::Axis,
            Self::Grid,
            Self::Band,
            Self::Hatch,
            Self::Idle,
            Self::Transfer,
            Self::Waiting,
            Self::Order,
            Self::Spread,
            Self::Slow,
            Self::Alert,
        ]
        .into_iter()
        .chain((0..SERIES).map(Self::Series))
        .chain((0..SEVERITY_STEPS).map(Self::Severity))
        .chain((0..MAGNITUDE_STEPS).map(Self::Magnitude))
        .chain((-steps..=0).map(Self::Diverging))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(rgb: u32) -> f64 {
        let channel = |shift: u32| {
            let c = f64::from((rgb >> shift) & 0xFF) / 255.0;
            if c <= 0.040_45 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    /// Contrast ratio of WCAG 2.
    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn a_light_shade_belongs_to_one_dark_shade() {
        let mut seen = std::collections::BTreeMap::new();
        for colour in Colour::every() {
            let Shades { light, dark } = colour.shades();
            assert_eq!(*seen.entry(light).or_insert(dark), dark, "{colour:?}");
        }
    }

    #[test]
    fn text_and_series_stand_out_in_both_themes() {
        let ground = Colour::Surface.shades();
        for (colour, least) in [
            (Colour::Text, 7.0),
            (Colour::Muted, 4.5),
            (Colour::Alert, 4.5),
        ]
        .into_iter()
        .chain((0..SERIES).map(|n| (Colour::Series(n), 2.0)))
        {
            let shades = colour.shades();
            assert!(
                contrast(shades.light, ground.light) >= least,
                "{colour:?} light"
            );
            assert!(
                contrast(shades.dark, ground.dark) >= least,
                "{colour:?} dark"
            );
        }
    }

    #[test]
    fn scales_run_one_way() {
        let darkens = |colours: &[Colour]| {
            colours
                .windows(2)
                .all(|w| luminance(w[0].shades().light) > luminance(w[1].shades().light))
        };
        let lightens_on_dark = |colours: &[Colour]| {
            colours
                .windows(2)
                .all(|w| luminance(w[0].shades().dark) < luminance(w[1].shades().dark))
        };
        let severity: Vec<_> = (0..SEVERITY_STEPS).map(Colour::Severity).collect();
        let above: Vec<_> = (0..=5).map(Colour::Diverging).collect();
        let below: Vec<_> = (0..=5).map(|n| Colour::Diverging(-n)).collect();
        for scale in [severity, above, below] {
            assert!(darkens(&scale) && lightens_on_dark(&scale), "{scale:?}");
        }
        let magnitude: Vec<_> = (0..MAGNITUDE_STEPS).map(Colour::Magnitude).collect();
        assert!(lightens_on_dark(&magnitude));
    }
}
