//! Arrays, array_views and the data sources under them.

pub mod array;
pub mod array_view;
pub mod extents;
pub mod host_access;
pub mod locked;
pub mod mirror;
pub mod operand;
pub mod part;
pub mod retry;
pub mod shadow;
pub mod source;
pub mod source_state;
pub mod storage;
pub mod texture;
pub mod transfer;
pub mod users;

use super::sync;
