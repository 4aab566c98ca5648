//! Writes a report as text.

use crate::report::{Report, TransferTotals};
use std::fmt::Write;

/// Formats a time in a readable unit.
pub fn time(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.1} s", ns as f64 / 1e9),
    }
}

/// Formats a number of bytes in a readable unit.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} B"),
        10_240..10_485_760 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        10_485_760..10_737_418_240 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

/// Formats a time that is known only if the trace has device times.
pub fn recorded_time(ns: Option<u64>) -> String {
    ns.map_or_else(|| "not recorded".to_owned(), time)
}

/// The report as text.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(report, &mut out);
    out
}

fn write(report: &Report, out: &mut String) -> std::fmt::Result {
    writeln!(out, "{} events in {}", report.events, time(report.span))?;
    if report.lost > 0 {
        writeln!(out, "{} events were lost: they came faster than they could be written", report.lost)?;
    }
    for a in &report.accelerators {
        writeln!(out, "\n{}: {} launches", a.name, a.launches)?;
        writeln!(out, "  kernels        {}", recorded_time(a.kernels))?;
        writeln!(out, "  copies         {}", time(a.copies))?;
        writeln!(out, "  host waits     {}", time(a.waits))?;
        writeln!(out, "  idle           {}", time(a.idle))?;
        if let (Some(overlap), Some(possible_overlap)) = (a.overlap, a.possible_overlap) {
            writeln!(out, "  overlap of copies and kernels: {} of {} possible", time(overlap), time(possible_overlap))?;
        }
    }
    write_totals(out, "Bytes by view and array", &report.objects)?;
    write_totals(out, "Bytes by cause", &report.causes)?;
    writeln!(out, "\nMost expensive implicit transfers")?;
    for t in &report.expensive {
        writeln!(
            out,
            "  {:>10}  {:>10}  {} from {} to {}, {}",
            time(t.time),
            bytes(t.bytes),
            t.object,
            t.from,
            t.to,
            t.cause
        )?;
    }
    if !report.advice.is_empty() {
        writeln!(out, "\nAdvice")?;
    }
    for a in &report.advice {
        writeln!(out, "  {}: {}: {}", a.line, a.kind.name(), a.what)?;
        writeln!(out, "    cost: {} times, {}, {}", a.count, bytes(a.bytes), time(a.time))?;
        writeln!(out, "    instead: {}", a.kind.instead())?;
        for code_line in a.code.lines() {
            writeln!(out, "      {code_line}")?;
        }
    }
    Ok(())
}

fn write_totals(out: &mut String, title: &str, all: &[TransferTotals]) -> std::fmt::Result {
    writeln!(out, "\n{title}: implicit, explicit, transfers, time")?;
    for m in all {
        let (implicit, explicit) = (bytes(m.implicit), bytes(m.explicit));
        writeln!(out, "  {implicit:>10}  {explicit:>10}  {:>6}  {:>10}  {}", m.count, time(m.time), m.name)?;
    }
    Ok(())
}
