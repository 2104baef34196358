//! Plots of runs as SVG that stands in a page.

use crate::error::WorkbenchError;
use crate::view::RunDetail;
use plotters::coord::Shift;
use plotters::prelude::*;

const SIZE: (u32, u32) = (460, 300);
/// Told apart by people with any kind of colour vision (Okabe and Ito 2008).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Validation loss over epochs, one line a run; none where no run was trained in steps.
pub(super) fn learning_curves(runs: &[RunDetail]) -> Result<Option<String>, WorkbenchError> {
    let line = |run: &RunDetail| -> Vec<(f64, f64)> {
        run.info.epochs.iter().filter_map(|e| Some((e.epoch, e.validation_loss?))).collect()
    };
    let lines: Vec<(String, Vec<(f64, f64)>)> =
        runs.iter().map(|run| (name(run), line(run))).filter(|(_, line)| line.len() > 1).collect();
    if lines.is_empty() {
        return Ok(None);
    }
    let points = || lines.iter().flat_map(|(_, line)| line);
    let far = points().map(|p| p.0).fold(0.0, f64::max);
    let (low, high) = (
        points().map(|p| p.1).fold(f64::INFINITY, f64::min),
        points().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max),
    );
    let margin = ((high - low) * 0.1).max(1e-3);
    drawn(|area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..far, (low - margin)..(high + margin))?;
        chart.configure_mesh().x_desc("epoch").y_desc("validation log loss").draw()?;
        for (i, (name, line)) in lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            chart
                .draw_series(LineSeries::new(line.clone(), colour.stroke_width(2)))?
                .label(name)
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

/// Confidence against how often it was right, with the line of perfect calibration.
pub(super) fn calibration(run: &RunDetail) -> Result<Option<String>, WorkbenchError> {
    let points: Vec<(f64, f64)> = run.calibration.iter().map(|bin| (bin.confidence, bin.accuracy)).collect();
    if points.is_empty() {
        return Ok(None);
    }
    drawn(|area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
        chart.configure_mesh().x_desc("confidence").y_desc("share right").draw()?;
        chart.draw_series(LineSeries::new([(0.0, 0.0), (1.0, 1.0)], BLACK.mix(0.4)))?;
        chart.draw_series(LineSeries::new(points.clone(), COLOURS[0].stroke_width(2)))?;
        chart.draw_series(points.iter().map(|p| Circle::new(*p, 3, COLOURS[0].filled())))?;
        Ok(())
    })
    .map(Some)
}

/// Every annotator's accuracy against what their most frequent level would have reached.
pub(super) fn annotators(run: &RunDetail) -> Result<Option<String>, WorkbenchError> {
    if run.annotators.is_empty() {
        return Ok(None);
    }
    let points: Vec<(f64, f64)> = run.annotators.iter().map(|a| (a.baseline, a.accuracy)).collect();
    drawn(|area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
        chart.configure_mesh().x_desc("accuracy of the usual level").y_desc("accuracy").draw()?;
        chart.draw_series(LineSeries::new([(0.0, 0.0), (1.0, 1.0)], BLACK.mix(0.4)))?;
        chart.draw_series(points.iter().map(|p| Circle::new(*p, 2, COLOURS[0].mix(0.5).filled())))?;
        Ok(())
    })
    .map(Some)
}

/// How a run is called in a plot.
pub(super) fn name(run: &RunDetail) -> String {
    format!("{} {}, {}", run.info.id, run.info.model, super::tables::tuning(&run.info))
}

fn drawn(draw: impl Fn(&DrawingArea<SVGBackend<'_>, Shift>) -> Drawn) -> Result<String, WorkbenchError> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        draw(&area).map_err(|e| WorkbenchError::internal(&e))?;
        area.present().map_err(|e| WorkbenchError::internal(&e))?;
    }
    Ok(svg)
}
