//! The code that advice proposes. It names the object by its label, or by a placeholder. The trace has no types of elements, so the code
//! has `T` in their place.

/// The name of an array_view or array in a trace: a label, or an extent.
struct ObjectName<'a> {
    label: Option<&'a str>,
    extent: Option<&'a str>,
}

impl<'a> ObjectName<'a> {
    fn of(object: &'a str) -> Self {
        let name = object.strip_prefix("array_view ").or_else(|| object.strip_prefix("array ")).unwrap_or_default();
        let extent = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        Self { label: Some(name).filter(|name| is_identifier(name)), extent }
    }

    fn rank(&self) -> String {
        self.extent.map_or_else(|| "N".to_owned(), |extent| extent.split(',').count().to_string())
    }

    /// The extent as arguments of a constructor.
    fn extent(&self) -> &'a str {
        self.extent.unwrap_or("extent")
    }
}

/// True if C++ code can use the label as a name.
fn is_identifier(label: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    label.starts_with(is_letter) && label.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

/// The label of an object. Without a label that C++ code can use, the placeholder.
fn name_or<'a>(object: &'a str, placeholder: &'a str) -> &'a str {
    label(object).unwrap_or(placeholder)
}

/// The label of an object, if C++ code can use it.
pub fn label(object: &str) -> Option<&str> {
    ObjectName::of(object).label
}

/// A view that is created once. `reads_only`: the kernel only reads it.
pub fn view_before_loop(object: &str, reads_only: bool) -> String {
    let (of, name) = (ObjectName::of(object), name_or(object, "view"));
    let element = if reads_only { "const T" } else { "T" };
    format!(
        "array_view<{element}, {}> {name}({}, memory); // before the loop\n\
         {name}.refresh(); // where the host has changed its memory",
        of.rank(),
        of.extent()
    )
}

/// A section for the elements that the host reads, or an array on the accelerator.
pub fn section_or_array(object: &str) -> String {
    let (of, name) = (ObjectName::of(object), name_or(object, "view"));
    let (rank, extent) = (of.rank(), of.extent());
    format!(
        "const array_view<const T, {rank}> read = {name}.section(origin, size); // the elements that the host reads\n\
         // or:\n\
         array<T, {rank}> data({extent});\n\
         const array_view<T, {rank}> {name}(data);"
    )
}

/// A section for the kernel.
pub fn section_for_kernel(object: &str) -> String {
    let rank = ObjectName::of(object).rank();
    let name = name_or(object, "view");
    format!(
        "const array_view<const T, {rank}> part = {name}.section(origin, size); // capture this view\n\
         // or, for one row:\n\
         const auto row = {name}[row_index];"
    )
}

/// A view through which the kernel cannot write.
pub fn view_of_constants(label: Option<&str>) -> String {
    let name = label.unwrap_or("view");
    format!("const array_view<const T, N> {name}(extent, memory);")
}

/// Explicit synchronization before the destructor.
pub fn synchronize_before_destructor(label: Option<&str>) -> String {
    format!("{}.synchronize(); // before its destructor", label.unwrap_or("view"))
}

/// One transfer of the whole view.
pub fn synchronize_before_loop(object: &str) -> String {
    format!("{}.synchronize(); // before the loop", name_or(object, "view"))
}

/// A call of `discard_data` before the launch.
pub fn discard_before_launch(object: &str) -> String {
    format!("{}.discard_data(); // before parallel_for_each", name_or(object, "view"))
}

/// A call of `synchronize` in place of `discard_data`.
pub fn synchronize_for_discard(object: &str) -> String {
    let name = name_or(object, "view");
    format!("{name}.synchronize(); // instead of {name}.discard_data()")
}

/// A staging array, from or to which the array is copied. `uploads`: to the array.
pub fn staging_array(object: &str, uploads: bool) -> String {
    let (of, name) = (ObjectName::of(object), name_or(object, "data"));
    let copy = if uploads { format!("copy(staging, {name});") } else { format!("copy({name}, staging);") };
    let on = if object.starts_with("array_view ") {
        "accelerator().default_view".to_owned()
    } else {
        format!("{name}.accelerator_view")
    };
    format!(
        "array<T, {}> staging({}, accelerator(accelerator::cpu_accelerator).default_view, {on}); // before the loop\n{copy}",
        of.rank(),
        of.extent()
    )
}

/// An asynchronous copy. The trace names the destination of a copy to an array, but for array_views it may name the source.
pub fn asynchronous_copy(object: &str) -> String {
    let to = if object.starts_with("array ") { name_or(object, "to") } else { "to" };
    format!("completion_future copied = copy_async(from, {to});\ncopied.get(); // later; throws if the copy failed")
}

/// One launch for several steps.
pub fn steps_in_kernel() -> String {
    "parallel_for_each(domain, [=](index<N> i) restrict(amp) {\n    \
         for (int step = 0; step < steps; step++) {\n        \
             // one step of this element\n    \
         }\n\
     });"
    .to_owned()
}

/// The wait between two uses of the same elements. `report`: the text of the race.
pub fn wait_for_first_use(report: &str) -> String {
    let first = report.split_once(" elements that ").and_then(|(_, first)| first.split(' ').next()).unwrap_or_default();
    if first.ends_with("_async") {
        "completion.get(); // the completion_future of the first use".to_owned()
    } else if report.ends_with("wait for its completion first") {
        "view.wait(); // the accelerator_view of the first use".to_owned()
    } else {
        "const std::lock_guard<std::mutex> lock(mutex); // in both threads".to_owned()
    }
}
