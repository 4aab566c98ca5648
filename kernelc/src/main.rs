//! The command `revamp-kernelc`.

fn main() {}
