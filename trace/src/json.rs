//! Writes a report as JSON, and a trace in Chrome's JSON format.

use crate::events::{Event, Trace, Value};
use crate::report::{Report, TransferTotals};
use std::fmt::Write;

/// A text as a JSON string.
pub fn json_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn list<T>(all: &[T], to_json: impl Fn(&T) -> String) -> String {
    format!("[{}]", all.iter().map(to_json).collect::<Vec<_>>().join(","))
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(|| "null".to_owned(), |v| v.to_string())
}

fn totals_json(m: &TransferTotals) -> String {
    format!(
        "{{\"name\":{},\"implicit_bytes\":{},\"explicit_bytes\":{},\"count\":{},\"ns\":{}}}",
        json_string(&m.name),
        m.implicit,
        m.explicit,
        m.count,
        m.time
    )
}

/// The report as JSON. Times are in nanoseconds, or null if they were not recorded.
pub fn json(report: &Report) -> String {
    let accelerators = list(&report.accelerators, |a| {
        format!(
            "{{\"name\":{},\"launches\":{},\"kernels_ns\":{},\"copies_ns\":{},\"waits_ns\":{},\"idle_ns\":{},\
             \"overlap_ns\":{},\"possible_overlap_ns\":{}}}",
            json_string(&a.name),
            a.launches,
            number(a.kernels),
            a.copies,
            a.waits,
            a.idle,
            number(a.overlap),
            number(a.possible_overlap)
        )
    });
    let expensive = list(&report.expensive, |t| {
        format!(
            "{{\"at_ns\":{},\"ns\":{},\"bytes\":{},\"from\":{},\"to\":{},\"object\":{},\"cause\":{}}}",
            t.at,
            t.time,
            t.bytes,
            json_string(&t.from),
            json_string(&t.to),
            json_string(&t.object),
            json_string(&t.cause)
        )
    });
    let advice = list(&report.advice, |a| {
        format!(
            "{{\"kind\":{},\"line\":{},\"what\":{},\"count\":{},\"bytes\":{},\"ns\":{},\"instead\":{},\"code\":{}}}",
            json_string(a.kind.name()),
            json_string(&a.line),
            json_string(&a.what),
            a.count,
            a.bytes,
            a.time,
            json_string(a.kind.instead()),
            json_string(&a.code)
        )
    });
    format!(
        "{{\"span_ns\":{},\"events\":{},\"lost_events\":{},\"accelerators\":{accelerators},\"objects\":{},\"causes\":{},\
         \"expensive_implicit_transfers\":{expensive},\"advice\":{advice}}}\n",
        report.span,
        report.events,
        report.lost,
        list(&report.objects, totals_json),
        list(&report.causes, totals_json)
    )
}

/// The trace in Chrome's format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
pub fn chrome(trace: &Trace) -> String {
    let mut all: Vec<String> = trace
        .tracks
        .iter()
        .map(|(id, name)| {
            format!(
                "{{\"ph\":\"M\",\"pid\":1,\"tid\":{id},\"name\":\"thread_name\",\"args\":{{\"name\":{}}}}}",
                json_string(name)
            )
        })
        .collect();
    for e in &trace.events {
        all.push(chrome_event(e));
        // An arrow leads from the event whose id is the flow's number to each other event of the flow.
        for flow in &e.flows {
            let from = e.number("id") == *flow;
            let end = if from { "\"ph\":\"s\"" } else { "\"ph\":\"f\",\"bp\":\"e\"" };
            all.push(format!(
                "{{{end},\"id\":{flow},\"pid\":1,\"tid\":{},\"ts\":{},\"name\":\"cause\",\"cat\":\"cause\"}}",
                e.track,
                microseconds(e.begin)
            ));
        }
    }
    format!("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n", all.join(",\n"))
}

fn microseconds(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

fn chrome_event(e: &Event) -> String {
    let values = e.values.iter().map(|(key, value)| match value {
        Value::Number(n) => format!("{}:{n}", json_string(key)),
        Value::Text(text) => format!("{}:{}", json_string(key), json_string(text)),
    });
    let values = values.collect::<Vec<_>>().join(",");
    let kind = if e.is_instant {
        "\"ph\":\"i\",\"s\":\"t\"".to_owned()
    } else {
        format!("\"ph\":\"X\",\"dur\":{}", microseconds(e.duration()))
    };
    format!(
        "{{{kind},\"pid\":1,\"tid\":{},\"ts\":{},\"name\":{},\"cat\":{},\"args\":{{{values}}}}}",
        e.track,
        microseconds(e.begin),
        json_string(&e.name),
        json_string(&e.category)
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn texts_are_escaped() {
        assert_eq!(super::json_string("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
    }
}
