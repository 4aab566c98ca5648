//! Reports on traces that revamp records (`REVAMP_TRACE`).

pub mod advice;
pub mod events;
pub mod html;
pub mod json;
pub mod report;
pub mod text;
