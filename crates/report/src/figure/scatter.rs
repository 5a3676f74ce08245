//! Bus bandwidth over time, a series per message size.

use nccl_report_analyze::facts::{Job, Scatter, ScatterPoint, ScatterSeries};

use super::axis;
use super::drawing::{Figure, Section, slug};
use super::names::Names;
use super::scale::Scale;
use super::sheet::{Key, MARGIN, Sheet, WIDTH};
use super::time_axis::TimeAxis;
use super::{density, mark, number};
use crate::svg::Rect;

const HEIGHT: f64 = 340.0;
/// Marks that show who wrote them when pointed at.
const NAMED: usize = 100;

/// The figure, with at most `marks` marks; `None` if nothing can be drawn.
pub(crate) fn figure(job: &Job, scatter: &Scatter, marks: usize) -> Option<Figure> {
    let names = Names::of(job);
    let sizes = number::SizeLabels::of(scatter.series.iter().map(|s| s.size));
    let mut series: Vec<(String, &ScatterSeries)> = scatter
        .series
        .iter()
        .map(|s| (sizes.get(s.size), s))
        .collect();
    series.retain(|(_, s)| s.points.iter().any(drawable) || s.density.iter().any(|c| c.count > 0));
    if series.is_empty() {
        return None;
    }
    let records: u64 = series
        .iter()
        .map(|(_, s)| s.records)
        .fold(0, u64::saturating_add);
    let dense = series.iter().any(|(_, s)| !s.density.is_empty());

    let title = format!(
        "{} on {} communicators: bus bandwidth over time",
        scatter.operation,
        scatter.class.as_str()
    );
    let reading = if dense {
        "Shaded cells count records, darker is more; marks are single records far from the rest."
    } else {
        "A mark is one record on one rank, at the time when it was written."
    };
    let mut sheet = Sheet::new(&title, reading);
    let legend: Vec<_> = series
        .iter()
        .enumerate()
        .map(|(n, (size, s))| {
            (
                Key::Mark(n),
                format!("{size} ({})", number::counted(s.records, "record")),
            )
        })
        .collect();
    sheet.legend(&legend);

    let panel = Rect::new(
        axis::LEFT,
        sheet.y,
        WIDTH - axis::LEFT - MARGIN - 14.0,
        HEIGHT,
    );
    let y = Scale::positive(series.iter().flat_map(|(_, s)| bandwidths(s)))
        .or_else(|| Scale::from_zero([0.0]))?
        .onto(panel.bottom(), panel.y);
    let time = TimeAxis::of(
        job,
        series.iter().flat_map(|(_, s)| moments(s)),
        panel.x,
        panel.right(),
    )?;
    axis::vertical(&mut sheet.canvas, y, panel, "Bus bandwidth (GB/s)");
    axis::horizontal(&mut sheet.canvas, time.scale(), panel, &time.title());

    for (n, (_, s)) in series.iter().enumerate() {
        density::draw(&mut sheet.canvas, &s.density, y, &time, mark::colour(n));
    }
    let mut drawn = 0;
    let mut all = 0;
    for (n, (size, s)) in series.iter().enumerate() {
        let points: Vec<&ScatterPoint> = s.points.iter().filter(|p| drawable(p)).collect();
        all += points.len();
        let kept = thin(&points, marks / series.len());
        drawn += kept.len();
        for (rank, point) in kept {
            let at = (time.at(point.at), y.at(point.busbw.as_gb_per_s()));
            let note = (rank < NAMED / series.len()).then(|| {
                format!(
                    "{}: {}, {} at {}",
                    names.rank(point.process),
                    size,
                    number::gb_per_s(point.busbw.as_gb_per_s()),
                    time.text(point.at)
                )
            });
            mark::put(&mut sheet.canvas, n, at, 2.6, note);
        }
    }

    let mut description = format!(
        "Bus bandwidth of {} {} of {} on {} communicators over the time at which they were written, by message size{}. \
         {reading} Look for a size whose band drops, splits or widens.",
        number::count(records),
        if records == 1 { "record" } else { "records" },
        scatter.operation,
        scatter.class.as_str(),
        if y.is_logarithmic() {
            ", on a logarithmic scale"
        } else {
            ""
        },
    );
    if drawn < all {
        description += &format!(
            " {} of {} marks are drawn, those far from the median among them.",
            number::count(drawn as u64),
            number::count(all as u64)
        );
    }
    sheet.y = panel.bottom() + axis::BELOW;
    let id = format!(
        "scatter-{}-{}",
        scatter.class.as_str(),
        slug(&scatter.operation)
    );
    Some(sheet.finish(&id, Section::Bandwidth, &description))
}

fn drawable(point: &ScatterPoint) -> bool {
    let value = point.busbw.as_gb_per_s();
    value.is_finite() && value >= 0.0
}

fn bandwidths(series: &ScatterSeries) -> impl Iterator<Item = f64> + '_ {
    let points = series.points.iter().map(|p| p.busbw.as_gb_per_s());
    let cells = series
        .density
        .iter()
        .flat_map(|c| [c.low.as_gb_per_s(), c.high.as_gb_per_s()]);
    points.chain(cells)
}

fn moments(
    series: &ScatterSeries,
) -> impl Iterator<Item = nccl_report_analyze::units::Timestamp> + '_ {
    let points = series.points.iter().filter(|p| drawable(p)).map(|p| p.at);
    points.chain(series.density.iter().flat_map(|c| [c.start, c.end]))
}

/// At most `most` of the points, in their order: half of them the farthest from the median, half an even choice of the rest.
/// Each comes with its place by distance from the median, 0 the farthest.
fn thin<'a>(points: &[&'a ScatterPoint], most: usize) -> Vec<(usize, &'a ScatterPoint)> {
    let mut values: Vec<f64> = points.iter().map(|p| p.busbw.as_gb_per_s()).collect();
    values.sort_by(f64::total_cmp);
    let Some(median) = values.get(values.len() / 2).copied() else {
        return Vec::new();
    };
    let distance = |p: &ScatterPoint| {
        (p.busbw.as_gb_per_s().max(1e-12) / median.max(1e-12))
            .ln()
            .abs()
    };
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| {
        distance(points[b])
            .total_cmp(&distance(points[a]))
            .then(a.cmp(&b))
    });
    let mut kept: Vec<(usize, usize)> = if points.len() <= most {
        order.into_iter().enumerate().collect()
    } else {
        let far = most.div_ceil(2);
        let rest = points.len() - far;
        let even = (most - far).max(1);
        let chosen = (0..most - far).map(|i| far + i * rest / even);
        (0..far)
            .chain(chosen)
            .map(|rank| (rank, order[rank]))
            .collect()
    };
    kept.sort_by_key(|(_, place)| *place);
    kept.into_iter()
        .map(|(rank, place)| (rank, points[place]))
        .collect()
}
