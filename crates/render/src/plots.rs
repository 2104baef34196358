//! Plots as SVG: lines and text, for web pages and PDFs. Invisible characters in names are escaped before
//! drawing.

use super::escape::plain;
use crate::RenderError;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width and height of a regular plot.
pub(crate) const SIZE: (u32, u32) = (460, 300);
/// Colours that can be distinguished with any kind of colour vision (Okabe and Ito 2008).
pub(crate) const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];
const GREY: RGBColor = RGBColor(90, 96, 112);
/// Height of a row with a name, and maximum number of characters of a name.
const ROW: u32 = 22;
const NAME: usize = 24;
/// Maximum number of people with names in a plot, which would be too high otherwise.
const NAMED: usize = 40;

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A line of a plot: its name and its points.
pub type Line = (String, Vec<(f64, f64)>);

/// A bar of a histogram: start, end and count.
pub type Bar = (f64, f64, u64);

/// A person's figure with its interval.
pub struct Ranged {
    pub name: String,
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Runs `draw` on an area of this size and returns the SVG.
pub(crate) fn drawn(
    size: (u32, u32),
    draw: impl Fn(&DrawingArea<SVGBackend<'_>, Shift>) -> Drawn,
) -> Result<String, RenderError> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw(&area).map_err(|e| RenderError::from_display(&e))?;
        area.present().map_err(|e| RenderError::from_display(&e))?;
    }
    Ok(svg)
}

/// Plots lines over one axis, with a legend where there are several. `None` without a line of two points.
pub fn lines(lines: &[Line], x: &str, y: &str) -> Result<Option<String>, RenderError> {
    let lines: Vec<&Line> = lines.iter().filter(|(_, line)| line.len() > 1).collect();
    if lines.is_empty() {
        return Ok(None);
    }
    let points = || lines.iter().flat_map(|(_, line)| line);
    let ends = |of: fn(&(f64, f64)) -> f64| {
        points().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    let ((_, far), (low, high)) = (ends(|p| p.0), ends(|p| p.1));
    let margin = ((high - low) * 0.1).max(1e-3);
    drawn(SIZE, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..far.max(1e-9), (low - margin)..(high + margin))?;
        chart.configure_mesh().max_light_lines(0).x_desc(x).y_desc(y).draw()?;
        for (i, (name, line)) in lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            chart
                .draw_series(LineSeries::new(line.clone(), colour.stroke_width(2)))?
                .label(plain(name))
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 14, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.2))
            .draw()?;
        Ok(())
    })
    .map(Some)
}

/// Plots lines in the unit square with its diagonal: confidence against accuracy.
pub fn in_unit_square(
    lines: &[Line],
    with_lines: bool,
    x: &str,
    y: &str,
) -> Result<Option<String>, RenderError> {
    if lines.iter().all(|(_, points)| points.is_empty()) {
        return Ok(None);
    }
    drawn(SIZE, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
        chart.configure_mesh().max_light_lines(0).x_desc(x).y_desc(y).draw()?;
        chart.draw_series(LineSeries::new([(0.0, 0.0), (1.0, 1.0)], BLACK.mix(0.4)))?;
        for (i, (name, points)) in lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            if with_lines {
                let line = chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
                if lines.len() > 1 {
                    line.label(plain(name)).legend(move |(x, y)| {
                        PathElement::new(vec![(x, y), (x + 14, y)], colour.stroke_width(2))
                    });
                }
            }
            let (size, alpha) = if with_lines { (3, 1.0) } else { (2, 0.5) };
            chart.draw_series(points.iter().map(|p| Circle::new(*p, size, colour.mix(alpha).filled())))?;
        }
        if lines.len() > 1 {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperLeft)
                .background_style(WHITE.mix(0.8))
                .border_style(BLACK.mix(0.2))
                .draw()?;
        }
        Ok(())
    })
    .map(Some)
}

/// Plots a histogram. `None` without counts, or with a single bar.
pub fn histogram(bars: &[Bar], x: &str, y: &str) -> Result<Option<String>, RenderError> {
    // A single bar shows no more than its number.
    let [first, .., last] = bars else { return Ok(None) };
    let most = bars.iter().map(|bar| bar.2).max().unwrap_or(0);
    if most == 0 {
        return Ok(None);
    }
    drawn(SIZE, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(first.0..last.1, 0.0..most as f64 * 1.05)?;
        // Counts are integers.
        let marks = most.min(6) as usize + 1;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .disable_x_mesh()
            .x_desc(x)
            .y_desc(y)
            .y_labels(marks)
            .y_label_formatter(&|n| if n.fract() == 0.0 { format!("{n:.0}") } else { String::new() })
            .draw()?;
        let gap = (last.1 - first.0) / bars.len() as f64 * 0.04;
        let bar = |(from, to, n): &Bar| {
            Rectangle::new([(from + gap, 0.0), (to - gap, *n as f64)], COLOURS[0].mix(0.85).filled())
        };
        chart.draw_series(bars.iter().filter(|bar| bar.2 > 0).map(bar))?;
        Ok(())
    })
    .map(Some)
}

/// Plots named amounts as horizontal bars, the first one on top, each with its words at its end. `None`
/// without any.
pub fn bars(of: &[(String, f64, String)], x: &str) -> Result<Option<String>, RenderError> {
    let far = of.iter().map(|(_, value, _)| *value).fold(0.0, f64::max);
    if of.is_empty() || far <= 0.0 {
        return Ok(None);
    }
    let names: Vec<String> = of.iter().map(|(name, ..)| shortened(name)).collect();
    let size = (SIZE.0, 60 + ROW * of.len() as u32);
    drawn(size, |area| {
        let rows = of.len() as f64;
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(label_width(&names))
            .build_cartesian_2d(0.0..far * 1.18, 0.0..rows)?;
        chart.configure_mesh().max_light_lines(0).disable_y_mesh().x_desc(x).y_labels(0).draw()?;
        for (at, ((_, value, words), name)) in of.iter().zip(&names).enumerate() {
            let y = rows - at as f64 - 0.5;
            chart.draw_series([Rectangle::new(
                [(0.0, y - 0.34), (*value, y + 0.34)],
                COLOURS[0].mix(0.85).filled(),
            )])?;
            row_name(&chart, 0.0, y, name)?;
            let style = ("sans-serif", 12).into_font().color(&GREY).pos(Pos::new(HPos::Left, VPos::Center));
            chart
                .plotting_area()
                .draw(&(EmptyElement::at((*value, y)) + Text::new(words.clone(), (5, 0), style)))?;
        }
        Ok(())
    })
    .map(Some)
}

/// Plots figures with their intervals, the lowest one at the bottom: a caterpillar plot. Names are shown
/// where there is room. `None` without any.
pub fn caterpillar(of: &[Ranged], x: &str) -> Result<Option<String>, RenderError> {
    let (low, high) = of
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), one| (low.min(one.low), high.max(one.high)));
    if !(low.is_finite() && high.is_finite()) {
        return Ok(None);
    }
    let mut sorted: Vec<&Ranged> = of.iter().collect();
    sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
    let named = of.len() <= NAMED;
    let names: Vec<String> =
        if named { sorted.iter().map(|one| shortened(&one.name)).collect() } else { Vec::new() };
    let inside = if named { 16 * of.len() as u32 } else { (3 * of.len() as u32).min(640) };
    let margin = ((high - low) * 0.04).max(1e-3);
    drawn((SIZE.0, 60 + inside.max(60)), |area| {
        let rows = of.len() as f64;
        let from = low.min(0.0) - margin;
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(if named { label_width(&names) } else { 16 })
            .build_cartesian_2d(from..(high.max(0.0) + margin), 0.0..rows)?;
        chart.configure_mesh().max_light_lines(0).disable_y_mesh().x_desc(x).y_labels(0).draw()?;
        chart.draw_series(LineSeries::new([(0.0, 0.0), (0.0, rows)], BLACK.mix(0.5)))?;
        let (line, dot) = if named { (2, 3) } else { (1, 1) };
        for (at, one) in sorted.iter().enumerate() {
            let y = at as f64 + 0.5;
            let ends = [(one.low, y), (one.high, y)];
            chart.draw_series(LineSeries::new(ends, COLOURS[0].mix(0.7).stroke_width(line)))?;
            chart.draw_series([Circle::new((one.value, y), dot, COLOURS[1].filled())])?;
            if let Some(name) = names.get(at) {
                row_name(&chart, from, y, name)?;
            }
        }
        Ok(())
    })
    .map(Some)
}

type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

/// Draws a name at the left of its row.
fn row_name(chart: &Chart<'_, '_>, x: f64, y: f64, name: &str) -> Drawn {
    let style = ("sans-serif", 12).into_font().color(&BLACK).pos(Pos::new(HPos::Right, VPos::Center));
    chart.plotting_area().draw(&(EmptyElement::at((x, y)) + Text::new(name.to_owned(), (-6, 0), style)))?;
    Ok(())
}

fn shortened(name: &str) -> String {
    let name = plain(name);
    if name.chars().count() <= NAME {
        return name.into_owned();
    }
    let head: String = name.chars().take(NAME - 1).collect();
    format!("{}…", head.trim_end())
}

/// Width of the longest name.
fn label_width(names: &[String]) -> u32 {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as u32;
    (longest * 7 + 16).clamp(40, 190)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_svg_with_escaped_names() {
        let name = "<script>alert(1)</script>\u{1b}&";
        let ranged =
            |value: f64| Ranged { name: name.to_owned(), value, low: value - 1.0, high: value + 0.5 };
        let all = [
            caterpillar(&[ranged(0.4), ranged(-1.0)], "severity").unwrap().unwrap(),
            bars(&[(name.to_owned(), 0.4, "40 %".to_owned())], "share").unwrap().unwrap(),
            histogram(&[(0.0, 1.0, 3), (1.0, 2.0, 0)], "labels", "texts").unwrap().unwrap(),
            lines(&[(name.to_owned(), vec![(0.0, 1.0), (1.0, 0.5)])], "n", "loss").unwrap().unwrap(),
            in_unit_square(
                &[("a".into(), vec![(0.5, 0.6)]), (name.into(), vec![(0.1, 0.2)])],
                true,
                "x",
                "y",
            )
            .unwrap()
            .unwrap(),
        ];
        for svg in all {
            assert!(svg.starts_with("<svg ") && svg.contains("<text") && !svg.contains("<image"), "{svg}");
            assert!(!svg.contains("<script") && !svg.contains('\u{1b}'), "{svg}");
        }
    }

    #[test]
    fn empty_data_give_no_plot() {
        assert!(caterpillar(&[], "x").unwrap().is_none() && bars(&[], "x").unwrap().is_none());
        assert!(histogram(&[(0.0, 1.0, 0)], "x", "y").unwrap().is_none());
        assert!(lines(&[("a".into(), vec![(0.0, 1.0)])], "x", "y").unwrap().is_none());
        let many: Vec<Ranged> = (0..500)
            .map(|n| Ranged {
                name: format!("A{n}"),
                value: f64::from(n),
                low: f64::from(n),
                high: f64::from(n),
            })
            .collect();
        let svg = caterpillar(&many, "x").unwrap().unwrap();
        assert!(!svg.contains("A499") && svg.contains("height=\"700\""), "{}", &svg[..200]);
    }
}
