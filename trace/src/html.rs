//! Writes a report as one self-contained HTML page.

use crate::report::{Accelerator, Report, TransferTotals};
use crate::text::{bytes, recorded_time, time};
use std::fmt::Write;

const STYLE: &str = "
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; width: 100%; margin-bottom: 2em }
th, td { text-align: left; padding: .3em .6em; border-bottom: 1px solid #ddd; vertical-align: top }
td.w { overflow-wrap: anywhere }
tr.a td { border-bottom: none }
tr.a td:first-child { min-width: 10em }
pre { margin: .3em 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px }
td.n, th.n { text-align: right; white-space: nowrap }
.bar { display: flex; height: 1em; min-width: 12em; background: #eee }
.kernels { background: #3465a4 } .copies { background: #f57900 } .waits { background: #cc0000 }
.key span { display: inline-block; width: .9em; height: .9em; margin: 0 .3em 0 1em }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } th, td { border-color: #444 } .bar { background: #333 } }
";

/// Escapes a text for HTML.
fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The report as an HTML page. `name` is the name of the trace.
pub fn html(report: &Report, name: &str) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(report, &escape_html(name), &mut out);
    out
}

fn write(report: &Report, name: &str, out: &mut String) -> std::fmt::Result {
    write!(
        out,
        "<!doctype html><html lang=en><meta charset=utf-8><link rel=icon href=data:,><title>{name}</title>\
         <style>{STYLE}</style><h1>{name}</h1><p>{} events in {}.",
        report.events,
        time(report.span)
    )?;
    if report.lost > 0 {
        write!(out, " {} events were lost: they came faster than they could be written.", report.lost)?;
    }
    out.push_str(
        "<h2>Time by accelerator</h2><p class=key><span class=kernels></span>kernels<span class=copies></span>copies\
         <span class=waits></span>host waits<table><tr><th>accelerator<th class=n>launches<th class=n>kernels<th class=n>copies\
         <th class=n>host waits<th class=n>idle<th class=n>overlap<th>",
    );
    for a in &report.accelerators {
        accelerator(out, a, report.span)?;
    }
    out.push_str("</table>");
    write_totals(out, "Bytes by view and array", "view or array", &report.objects)?;
    write_totals(out, "Bytes by cause", "launch or call", &report.causes)?;
    out.push_str(
        "<h2>Most expensive implicit transfers</h2><table><tr><th class=n>time<th class=n>bytes<th>view or array<th>from<th>to\
         <th>cause",
    );
    for t in &report.expensive {
        write!(
            out,
            "<tr><td class=n>{}<td class=n>{}<td class=w>{}<td>{}<td>{}<td class=w>{}",
            time(t.time),
            bytes(t.bytes),
            escape_html(&t.object),
            escape_html(&t.from),
            escape_html(&t.to),
            escape_html(&t.cause)
        )?;
    }
    out.push_str("</table>");
    if !report.advice.is_empty() {
        out.push_str("<h2>Advice</h2><table><tr><th>line<th>kind<th>what happens<th class=n>times<th class=n>bytes<th class=n>time");
    }
    for a in &report.advice {
        let (line, what, code) = (escape_html(&a.line), escape_html(&a.what), escape_html(&a.code));
        let (kind, instead) = (a.kind.name(), escape_html(a.kind.instead()));
        let (bytes, time) = (bytes(a.bytes), time(a.time));
        write!(
            out,
            "<tr class=a><td class=w>{line}<td>{kind}<td>{what}<td class=n>{}<td class=n>{bytes}<td class=n>{time}\
             <tr><td colspan=6>Instead: {instead}<pre>{code}</pre>",
            a.count
        )?;
    }
    out.push_str("</table></html>\n");
    Ok(())
}

fn accelerator(out: &mut String, a: &Accelerator, span: u64) -> std::fmt::Result {
    let overlap = match (a.overlap, a.possible_overlap) {
        (Some(overlap), Some(possible_overlap)) => format!("{} of {}", time(overlap), time(possible_overlap)),
        _ => recorded_time(None),
    };
    write!(
        out,
        "<tr><td>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{overlap}<td><div class=bar>",
        escape_html(&a.name),
        a.launches,
        recorded_time(a.kernels),
        time(a.copies),
        time(a.waits),
        time(a.idle)
    )?;
    for (class, ns) in [("kernels", a.kernels.unwrap_or(0)), ("copies", a.copies), ("waits", a.waits)] {
        write!(out, "<div class={class} style=\"width:{:.2}%\"></div>", percentage(ns, span))?;
    }
    out.push_str("</div>");
    Ok(())
}

fn percentage(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn write_totals(out: &mut String, title: &str, what: &str, all: &[TransferTotals]) -> std::fmt::Result {
    write!(
        out,
        "<h2>{title}</h2><table><tr><th>{what}<th class=n>implicit<th class=n>explicit<th class=n>transfers<th class=n>time<th>"
    )?;
    let max_bytes = all.iter().map(|m| m.implicit + m.explicit).max().unwrap_or(0);
    for m in all {
        write!(
            out,
            "<tr><td class=w>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td><div class=bar><div class=copies \
             style=\"width:{:.2}%\"></div></div>",
            escape_html(&m.name),
            bytes(m.implicit),
            bytes(m.explicit),
            m.count,
            time(m.time),
            percentage(m.implicit + m.explicit, max_bytes)
        )?;
    }
    out.push_str("</table>");
    Ok(())
}
