//! A piece of advice, its kind and its cost.

use crate::events::Event;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal: $instead:literal,)*) => {
        /// A kind of advice.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Kind { $($(#[$doc])* $kind),* }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// The name of the kind in reports. Programs may depend on it, so it does not change.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name),* }
            }

            /// A sentence that says what to do instead.
            pub const fn instead(self) -> &'static str {
                match self { $(Self::$kind => $instead),* }
            }
        }
    };
}

kinds! {
    /// Caching, guideline B: a kernel repeatedly gets the same memory through new views.
    RenewedView "renewed view":
        "make the array_view once, before the loop; call refresh() where the host changes its memory",
    /// Caching, guideline C: data that kernels write comes to the host and goes back, in each round or between many launches.
    RoundTrip "round trip":
        "read only a section with the elements that the host needs, through an array_view<const T>; or use an array on the \
         accelerator as the data source of the view",
    /// Caching, guideline A: a launch moves a whole view, of which launches use only a part.
    UnusedPart "unused part":
        "capture a section or a projection that has only the elements that the kernel uses",
    /// Destruction, guideline A: a kernel only reads a view that allows writes.
    ViewOnlyRead "view only read":
        "make the view an array_view<const T>. This costs nothing here, because the compiler knows that the kernel only reads it. A kernel \
         that is not compiled counts as writing, and then synchronization copies all elements back",
    /// Destruction, guideline B: a destructor writes changes back.
    DestructorWriteBack "destructor write-back":
        "before the view is destroyed, call synchronize(), which reports errors, or discard_data() if the changes are not needed",
    /// A destructor's write-back failed.
    SwallowedError "swallowed error":
        "call synchronize() before the view is destroyed: it throws the error",
    /// Data is moved for a kernel that never reads it.
    MissingDiscard "missing discard":
        "call discard_data() on the view before the launch, if the kernel writes all its elements",
    /// The host repeatedly fetches a few elements.
    SingleRead "single read":
        "call synchronize() on the whole view before the loop: one transfer brings all of them",
    /// Repeated copies of the same memory pass through staging memory.
    StagedCopy "staged copy":
        "keep the elements in a staging array: the device copies it directly",
    /// The host waits for copies between arrays.
    WaitingCopy "waiting copy":
        "call copy_async(): later launches and copies of the arrays run after it, and the host does not wait",
    /// Data that a kernel wrote is discarded before anything has read it.
    UnreadResult "unread result":
        "remove the launch, or remove the call of discard_data()",
    /// Launches take longer than the kernels that they launch.
    SmallKernel "small kernel":
        "launch fewer kernels that do more: larger domains, or several steps in one kernel",
    /// `REVAMP_CHECK=1` reported a race.
    Race "race":
        "wait for the first use before the second one begins",
}

/// A piece of advice: one thing to change in the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The kind of the advice.
    pub kind: Kind,
    /// File and line of the call or kernel. If there is no debug information, the kernel, or the call and its object.
    pub line: String,
    /// What happens at this line.
    pub what: String,
    /// How often it happens.
    pub count: u64,
    /// The total number of bytes that it moves.
    pub bytes: u64,
    /// The total time that it takes, in nanoseconds.
    pub time: u64,
    /// The code to write instead. `T`, `N` and names that the trace does not have are placeholders.
    pub code: String,
}

/// The total cost of transfers that repeat.
#[derive(Default, Clone, Copy)]
pub struct Sum {
    /// The number of transfers.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their time in nanoseconds.
    pub time: u64,
}

impl Sum {
    /// Adds a transfer.
    pub fn add(&mut self, transfer: &Event) {
        self.count += 1;
        self.bytes += transfer.number("bytes");
        self.time += transfer.duration();
    }

    /// The advice to avoid the transfers.
    pub fn advice(self, kind: Kind, line: &str, what: String, code: String) -> Advice {
        let Self { count, bytes, time } = self;
        Advice { kind, line: line.to_owned(), what, count, bytes, time, code }
    }
}
