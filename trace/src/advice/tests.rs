use super::*;
use crate::events::Value;

/// A trace that gets one piece of advice.
struct Case {
    kind: Kind,
    /// The events, one in each line: category, begin and end, then annotations.
    events: String,
    line: &'static str,
    count: u64,
    bytes: u64,
    time: u64,
    /// The first line of the code.
    code: &'static str,
    /// Changes of `events`: texts and their replacements. Each change makes a trace that must get no advice.
    changes: &'static [(&'static str, &'static str)],
}

/// Makes the events of several rounds. Each `#` of the text becomes the number of the round, which begins at 1.
fn rounds(count: u64, text: &str) -> String {
    (1..=count).map(|round| text.replace('#', &round.to_string())).collect()
}

/// Reads an event from a line such as `call 0 9: id=1, object=array_view [16]`.
fn event(line: &str) -> Option<Event> {
    let (head, annotations) = line.trim().split_once(": ")?;
    let mut head = head.split(' ');
    let category = head.next()?.to_owned();
    let (begin, end) = (head.next()?.parse().ok()?, head.next()?.parse().ok()?);
    let value = |text: &str| text.parse().map_or_else(|_| Value::Text(text.into()), Value::Number);
    let values = annotations.split(", ").filter_map(|a| a.split_once('=')).map(|(key, text)| (key.into(), value(text)));
    Some(Event { category, begin, end, values: values.collect(), ..Default::default() })
}

fn advice_on(text: &str) -> Vec<Advice> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let events = lines.map(|line| event(line).unwrap_or_else(|| panic!("not an event: {line}"))).collect();
    advice(&Trace { events, ..Default::default() })
}

fn check(case: &Case) {
    let Case { kind, events, .. } = case;
    let all = advice_on(events);
    let [found] = &all[..] else { panic!("{kind:?}: {all:?}") };
    let code = found.code.lines().next().unwrap_or_default();
    assert_eq!(
        (found.kind, &found.line[..], found.count, found.bytes, found.time, code),
        (*kind, case.line, case.count, case.bytes, case.time, case.code)
    );
    for (from, to) in case.changes {
        let changed = events.replace(from, to);
        assert_ne!(&changed, events, "{kind:?}: the trace has no {from}");
        assert!(advice_on(&changed).is_empty(), "{kind:?} with {to} instead of {from}: {:?}", advice_on(&changed));
    }
}

/// Three copies between arrays on accelerators, each with a wait.
fn waiting_copies() -> String {
    rounds(
        3,
        "call #0 #9: id=#1, call=revamp_copy, object=array to, line=a.cpp:9
         transfer #1 #2: id=#2, cause=#1, kind=explicit, from=gpu, to=gpu, bytes=64, object=array results
         wait #2 #9: id=#3, cause=#1, queue=8
         ",
    )
}

fn cases() -> Vec<Case> {
    vec![
        Case {
            kind: Kind::RenewedView,
            events: rounds(
                3,
                "call #0 #9: id=#1, call=revamp_parallel_for_each, object=a.cpp:7, captures=#:r
                 transfer #1 #3: id=#2, cause=#1, from=host, to=gpu, bytes=64, address=4096, object=array_view [16], source=#
                 ",
            ),
            line: "a.cpp:7",
            count: 2,
            bytes: 128,
            time: 4,
            code: "array_view<const T, 1> view(16, memory); // before the loop",
            changes: &[
                // Only two views.
                ("source=3", "source=2"),
                // Other memory.
                ("id=32, cause=31, from=host, to=gpu, bytes=64, address=4096", "id=32, cause=31, from=host, to=gpu, bytes=64, address=8192"),
                ("address=4096", "address=0"),
                // A part of the memory.
                ("id=32, cause=31, from=host, to=gpu, bytes=64", "id=32, cause=31, from=host, to=gpu, bytes=32"),
                // Another kernel.
                ("id=31, call=revamp_parallel_for_each, object=a.cpp:7", "id=31, call=revamp_parallel_for_each, object=a.cpp:8"),
            ],
        },
        // One kernel writes through another view of the same data source.
        Case {
            kind: Kind::RenewedView,
            events: rounds(
                3,
                "call #0 #9: id=#1, call=revamp_parallel_for_each, object=a.cpp:7, captures=#:r #:rw
                 transfer #1 #3: id=#2, cause=#1, from=host, to=gpu, bytes=64, address=4096, object=array_view [16], source=#
                 ",
            ),
            line: "a.cpp:7",
            count: 2,
            bytes: 128,
            time: 4,
            code: "array_view<T, 1> view(16, memory); // before the loop",
            changes: &[],
        },
        Case {
            kind: Kind::UnusedPart,
            events: "call 0 9: id=1, call=revamp_parallel_for_each, object=a.cpp:7, captures=4:r:r:1024 5:w:rw:64
                     transfer 1 5: id=2, kind=implicit, cause=1, from=host, to=gpu, bytes=8192, object=array_view [2048], source=4
                     launch 6 8: id=3, kernel=a.cpp:7, cause=1
                     launch 10 12: id=4, kernel=a.cpp:7
                     call 13 20: id=5, call=revamp_array_view_data, object=array_view [2048], source=4"
                .to_owned(),
            line: "a.cpp:7",
            count: 1,
            bytes: 6144,
            time: 3,
            code: "const array_view<const T, 1> part = view.section(origin, size); // capture this view",
            changes: &[
                // Unknown uses.
                ("4:r:r:1024", "4:r:r"),
                ("captures=4:r:r:1024 5:w:rw:64", "captures="),
                // More than half.
                ("4:r:r:1024", "4:r:r:2049"),
                // The transfer of few bytes.
                ("bytes=8192", "bytes=5119"),
                // Elements that the kernel only writes.
                ("4:r:r:1024", "4:rw:rw:1024 4:w:rw:4"),
                // Other uses.
                ("call=revamp_array_view_data", "call=revamp_copy"),
                ("call=revamp_array_view_data, object=array_view [2048], source=4", "call=revamp_copy, object=array_view [9], source=6, read_source=4"),
                // Other captures of the kernel: those of a repeated launch are unknown.
                ("launch 10 12", "call 9 9: id=6, call=revamp_dispatch, object=a.cpp:7, captures=4:r:r:512\nlaunch 10 12"),
                ("launch 10 12", "call 14 14: id=6, call=revamp_dispatch, object=a.cpp:7, captures=5:r:r:4\nlaunch 10 12"),
                ("launch 10 12", "lost 9 9: events=1\nlaunch 10 12"),
                ("launch 10 12: id=4, kernel=a.cpp:7", "launch 10 12: id=4, kernel=b.cpp:9"),
                ("launch 10 12: id=4, kernel=a.cpp:7", "transfer 10 12: id=4, kind=implicit, from=gpu, to=other, bytes=8192, source=4"),
            ],
        },
        Case {
            kind: Kind::ViewOnlyRead,
            events: "call 0 9: id=1, call=revamp_parallel_for_each, object=a.cpp:7, captures=4:r:rw 5:rw:rw
                     call 1 1: id=6, call=revamp_array_view_data, object=array_view table, source=4
                     launch 6 8: id=3, kernel=a.cpp:7, cause=1
                     launch 10 12: id=4, kernel=a.cpp:7"
                .to_owned(),
            line: "a.cpp:7",
            count: 2,
            bytes: 0,
            time: 0,
            code: "const array_view<const T, N> table(extent, memory);",
            changes: &[("4:r:rw", "4:r:r"), ("4:r:rw", "4:r"), ("4:r:rw", "4:rw:rw")],
        },
        // The launch has the captures of its call, not of a later call. Two views of one data source count once.
        Case {
            kind: Kind::ViewOnlyRead,
            events: "call 0 1: id=1, call=revamp_parallel_for_each, object=a.cpp:7, captures=4:r:rw 4:r:rw
                     call 2 3: id=2, call=revamp_parallel_for_each, object=a.cpp:7, captures=4:rw:rw
                     launch 4 5: id=3, kernel=a.cpp:7, cause=1
                     launch 6 7: id=4, kernel=a.cpp:7, cause=2"
                .to_owned(),
            line: "a.cpp:7",
            count: 1,
            bytes: 0,
            time: 0,
            code: "const array_view<const T, N> view(extent, memory);",
            changes: &[("cause=1", "cause=2")],
        },
        Case {
            kind: Kind::RoundTrip,
            events: rounds(
                3,
                "call #0 #2: id=#1, call=revamp_array_view_data, object=array_view [16], line=a.cpp:9, source=5
                 transfer #0 #1: id=#2, kind=implicit, cause=#1, from=gpu, to=host, bytes=64, object=array_view [16], source=5
                 call #3 #6: id=#3, call=revamp_parallel_for_each, object=a.cpp:7, captures=5:rw
                 transfer #4 #6: id=#4, kind=implicit, cause=#3, from=host, to=gpu, bytes=64, object=array_view [16], source=5
                 ",
            ),
            line: "a.cpp:9",
            count: 3,
            bytes: 384,
            time: 9,
            code: "const array_view<const T, 1> read = view.section(origin, size); // the elements that the host reads",
            changes: &[
                // Only two rounds.
                ("id=34, kind=implicit", "id=34, kind=explicit"),
                ("id=32, kind=implicit", "id=32, kind=explicit"),
                // Other data goes back.
                ("cause=33, from=host, to=gpu, bytes=64, object=array_view [16], source=5", "cause=33, from=host, to=gpu, bytes=64, object=array_view [16], source=6"),
                // The program asks for the data.
                ("revamp_array_view_data", "revamp_array_view_synchronize"),
            ],
        },
        // One round, but ten launches that write.
        Case {
            kind: Kind::RoundTrip,
            events: rounds(9, "launch # #: id=#, accelerator=gpu, kernel=a.cpp:7, captures=5:rw\n")
                + "call 20 22: id=20, call=revamp_array_view_data, object=array_view [16], line=a.cpp:9, source=5
                   transfer 20 21: id=21, kind=implicit, cause=20, from=gpu, to=host, bytes=64, object=array_view [16], source=5
                   call 23 26: id=23, call=revamp_parallel_for_each, object=a.cpp:7, captures=5:rw
                   transfer 24 26: id=24, kind=implicit, cause=23, from=host, to=gpu, bytes=64, object=array_view [16], source=5
                   launch 26 26: id=25, cause=23, accelerator=gpu, kernel=a.cpp:7",
            line: "a.cpp:9",
            count: 1,
            bytes: 128,
            time: 3,
            code: "const array_view<const T, 1> read = view.section(origin, size); // the elements that the host reads",
            changes: &[
                // Only nine launches write.
                ("id=9, accelerator=gpu, kernel=a.cpp:7, captures=5:rw", "id=9, accelerator=gpu, kernel=a.cpp:7, captures=5:r"),
                // Two accelerators write.
                ("id=9, accelerator=gpu", "id=9, accelerator=other"),
                // The captures of a launch are unknown.
                (
                    "launch 26 26: id=25, cause=23, accelerator=gpu, kernel=a.cpp:7",
                    "launch 26 26: id=25, accelerator=gpu, kernel=a.cpp:7
                     call 27 27: id=30, call=revamp_dispatch, object=a.cpp:7, captures=5:r",
                ),
                // A launch counts once, even if it has two views of the data.
                (
                    "captures=5:rw\nlaunch 9 9: id=9, accelerator=gpu, kernel=a.cpp:7, captures=5:rw",
                    "captures=5:w 5:rw",
                ),
                // The data does not go back.
                ("id=24, kind=implicit", "id=24, kind=explicit"),
            ],
        },
        Case {
            kind: Kind::DestructorWriteBack,
            events: "call 0 1: id=1, call=revamp_array_view_discard_data, object=array_view results, source=5
                     call 2 9: id=2, call=revamp_array_view_release, object=host memory, line=a.cpp:9, source=5
                     transfer 3 6: id=3, cause=2, call=revamp_array_view_release, from=gpu, to=host, bytes=64, object=host memory, source=5"
                .to_owned(),
            line: "a.cpp:9",
            count: 1,
            bytes: 64,
            time: 3,
            code: "results.synchronize(); // before its destructor",
            changes: &[("revamp_array_view_release", "revamp_array_view_synchronize"), ("transfer", "wait")],
        },
        Case {
            kind: Kind::SwallowedError,
            events: "call 2 9: id=2, call=revamp_array_view_release, object=host memory, line=a.cpp:9, source=5
                     failure 4 4: cause=2, object=the device is lost"
                .to_owned(),
            line: "a.cpp:9",
            count: 1,
            bytes: 0,
            time: 0,
            code: "view.synchronize(); // before its destructor",
            changes: &[("failure", "wait")],
        },
        Case {
            kind: Kind::MissingDiscard,
            events: "call 0 9: id=1, call=revamp_parallel_for_each, object=a.cpp:7, captures=4:r 5:w
                     transfer 1 3: id=2, cause=1, from=host, to=gpu, bytes=64, object=array_view results, source=5"
                .to_owned(),
            line: "a.cpp:7",
            count: 1,
            bytes: 64,
            time: 2,
            code: "results.discard_data(); // before parallel_for_each",
            changes: &[
                ("5:w", "5:rw"),
                ("5:w", "5:w 5:r"),
                ("source=5", "source=4"),
                // The trace does not say how the kernel uses its views.
                (", captures=4:r 5:w", ""),
                // The data comes from another accelerator.
                ("from=host", "from=cpu"),
                ("revamp_parallel_for_each", "revamp_array_view_synchronize_to"),
            ],
        },
        Case {
            kind: Kind::SingleRead,
            events: rounds(
                3,
                "call #0 #5: id=#1, call=revamp_array_view_data, object=array_view results, line=a.cpp:9, source=5
                 transfer #1 #3: id=#2, kind=implicit, cause=#1, from=gpu, to=host, bytes=4, object=array_view results, source=5
                 ",
            ),
            line: "a.cpp:9",
            count: 2,
            bytes: 8,
            time: 4,
            code: "results.synchronize(); // before the loop",
            changes: &[
                // Only two accesses.
                ("id=32, kind=implicit", "id=32, kind=explicit"),
                ("id=31, call=revamp_array_view_data, object=array_view results, line=a.cpp:9", "id=31, call=revamp_array_view_data, object=array_view results, line=a.cpp:10"),
                // A launch before the third access.
                ("call 30 35", "launch 28 29: id=7, kernel=a.cpp:7\ncall 30 35"),
                // The trace may have lost a launch.
                ("call 30 35", "lost 28 28: events=1\ncall 30 35"),
                ("revamp_array_view_data", "revamp_array_view_synchronize"),
            ],
        },
        Case {
            kind: Kind::StagedCopy,
            events: rounds(
                3,
                "call #0 #5: id=#1, call=revamp_copy, object=array [64], line=a.cpp:9
                 transfer #1 #3: id=#2, cause=#1, staged=1, from=host, to=gpu, bytes=65536, address=4096, object=array [64]
                 ",
            ),
            line: "a.cpp:9",
            count: 3,
            bytes: 196_608,
            time: 6,
            code: "array<T, 1> staging(64, accelerator(accelerator::cpu_accelerator).default_view, data.accelerator_view); // before the loop",
            changes: &[
                ("staged=1", "staged=0"),
                // A small copy.
                ("bytes=65536", "bytes=65535"),
                // Only two copies.
                ("id=32, cause=31, staged=1", "id=32, cause=31, staged=0"),
                // Other memory.
                ("to=gpu, bytes=65536, address=4096, object=array [64]\n                 call 30", "to=gpu, bytes=65536, address=8192, object=array [64]\ncall 30"),
                ("revamp_copy", "revamp_array_view_synchronize"),
            ],
        },
        Case {
            kind: Kind::WaitingCopy,
            events: waiting_copies(),
            line: "a.cpp:9",
            count: 3,
            bytes: 192,
            time: 21,
            code: "completion_future copied = copy_async(from, results);",
            changes: &[
                ("revamp_copy", "revamp_copy_async"),
                // A copy from host memory, which the host may change after the call.
                ("from=gpu", "from=host"),
                ("to=gpu", "to=host"),
                // Only two copies.
                ("id=32, cause=31", "id=32, cause=0"),
                // No copy took so long that the host had to wait.
                ("wait", "device"),
                ("kind=explicit", "kind=implicit"),
            ],
        },
        // The host did not have to wait for one copy.
        Case {
            kind: Kind::WaitingCopy,
            events: waiting_copies().replace("id=33, cause=31", "id=33, cause=0"),
            line: "a.cpp:9",
            count: 3,
            bytes: 192,
            time: 14,
            code: "completion_future copied = copy_async(from, results);",
            changes: &[],
        },
        Case {
            kind: Kind::UnreadResult,
            events: rounds(
                3,
                "launch #0 #2: id=#1, kernel=a.cpp:7, captures=5:w
                 device #3 #4: id=#2, of=#1
                 call #5 #6: id=#3, call=revamp_array_view_discard_data, object=array_view results, source=5
                 ",
            ),
            line: "a.cpp:7",
            count: 3,
            bytes: 0,
            time: 9,
            code: "results.synchronize(); // instead of results.discard_data()",
            changes: &[
                // The next launch reads the data.
                ("5:w", "5:rw"),
                // The kernel may read the data through another view.
                ("5:w", "5:r 5:w"),
                // The call of the third launch says that its kernel reads the data. A later call does not matter.
                (
                    "launch 30 32: id=31, kernel=a.cpp:7, captures=5:w",
                    "call 28 28: id=7, call=revamp_parallel_for_each, object=a.cpp:7, captures=5:rw
                     call 29 29: id=8, call=revamp_parallel_for_each, object=a.cpp:7, captures=5:w
                     launch 30 32: id=31, kernel=a.cpp:7, cause=7",
                ),
                // The trace does not say how the kernel uses its views.
                (", captures=5:w", ""),
                // Only two rounds.
                ("id=33, call=revamp_array_view_discard_data", "id=33, call=revamp_array_view_refresh"),
                // The host reads the data.
                ("call 35", "call 34 34: id=7, call=revamp_array_view_data, source=5\ncall 35"),
                // A copy to another view reads the data.
                ("call 35", "call 34 34: id=7, call=revamp_copy, source=6, read_source=5\ncall 35"),
                (
                    "launch 30 32: id=31, kernel=a.cpp:7, captures=5:w",
                    "call 29 29: id=7, call=revamp_copy_async, source=6, read_source=5
                     launch 30 32: id=31, kernel=a.cpp:7, captures=5:w
                     transfer 33 33: id=8, cause=7, from=gpu, to=gpu, source=6",
                ),
                // The trace may have lost a read.
                ("call 35", "lost 34 34: events=1\ncall 35"),
                // A transfer moves the data.
                ("call 35", "transfer 34 34: id=7, from=gpu, to=host, source=5\ncall 35"),
            ],
        },
        Case {
            kind: Kind::SmallKernel,
            events: rounds(
                100,
                "launch #00 #10: id=#1, kernel=a.cpp:7
                 device #11 #20: id=#2, of=#1
                 ",
            ),
            line: "a.cpp:7",
            count: 100,
            bytes: 0,
            time: 1000,
            code: "parallel_for_each(domain, [=](index<N> i) restrict(amp) {",
            changes: &[
                // The kernels take as long.
                ("20: id", "21: id"),
                // Only 99 launches.
                ("of=1001", "of=1002"),
                // The trace has no times of the device.
                ("device", "submitted"),
            ],
        },
        Case {
            kind: Kind::Race,
            events: "race 3 3: id=1, line=a.cpp:9, object=race: a writes elements that revamp_copy_async on b reads; wait for its completion first".to_owned(),
            line: "a.cpp:9",
            count: 1,
            bytes: 0,
            time: 0,
            code: "completion.get(); // the completion_future of the first use",
            changes: &[("race 3 3", "wait 3 3")],
        },
    ]
}

#[test]
fn each_kind_is_found_and_similar_traces_get_no_advice() {
    let cases = cases();
    cases.iter().for_each(check);
    for kind in Kind::ALL {
        assert!(cases.iter().any(|case| case.kind == *kind), "{kind:?} has no case");
    }
}

#[test]
fn launches_that_wait_are_no_small_kernels() {
    let launches = |other| {
        rounds(
            100,
            &format!(
                "call #00 #20: id=#1, call=revamp_dispatch, object=a.cpp:7
                 {other}
                 launch #02 #05: id=#2, cause=#1, kernel=a.cpp:7
                 device #20 #27: id=#3, of=#2
                 "
            ),
        )
    };
    // The call takes 20, the kernel takes 7.
    assert_eq!(advice_on(&launches("wait #05 #08: id=#4, cause=#2")).len(), 1);
    for other in [
        "wait #05 #18: id=#4, cause=#1",
        "transfer #04 #18: id=#4, kind=implicit, cause=#1\n wait #05 #09: id=#5, cause=#1",
        "pipeline #05 #12: id=#4, cause=#1\n wait #11 #30: id=#5, cause=#1",
    ] {
        assert!(advice_on(&launches(other)).is_empty(), "{other}: {:?}", advice_on(&launches(other)));
    }
}

#[test]
fn names_of_kinds_differ() {
    let names: BTreeSet<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), Kind::ALL.len());
}

#[test]
fn code_names_the_object_by_its_label_or_a_placeholder() {
    let discard = replacement::discard_before_launch;
    assert_eq!(discard("array_view results_2"), "results_2.discard_data(); // before parallel_for_each");
    for object in ["array_view [4, 4]", "array_view the results", "array_view 2d", "host memory", ""] {
        assert_eq!(discard(object), "view.discard_data(); // before parallel_for_each", "{object}");
    }
}

#[test]
fn code_has_the_extent_if_it_is_known() {
    let first = |code: String| code.lines().next().unwrap_or_default().to_owned();
    let view = |object, reads_only| first(replacement::view_before_loop(object, reads_only));
    assert_eq!(view("array_view [4, 8]", false), "array_view<T, 2> view(4, 8, memory); // before the loop");
    assert_eq!(view("array_view table", true), "array_view<const T, N> table(extent, memory); // before the loop");
    let staging = replacement::staging_array("array_view [64]", false);
    assert!(staging.contains("accelerator().default_view);") && staging.ends_with("copy(data, staging);"), "{staging}");
}

#[test]
fn races_are_avoided_by_the_wait_that_the_first_use_has() {
    let code = |first: &str, end: &str| {
        replacement::wait_for_first_use(&format!("race: a writes elements that {first} on thread 1 reads{end}"))
    };
    let later = "; wait for its completion first";
    assert!(code("revamp_copy_async", later).starts_with("completion.get();"));
    assert!(code("revamp_parallel_for_each", later).starts_with("view.wait();"));
    assert!(code("revamp_array_view_data", " at the same time").contains("lock_guard"));
}
