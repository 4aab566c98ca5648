//! The users of the library in one process: while there is one, `uninitialize` ends nothing (decision 41).

use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use std::sync::Arc;

struct Users {
    count: usize,
    /// How many threads are ending everything.
    endings: usize,
}

static USERS: Mutex<Users, { rank::USERS }> = Mutex::new(Users { count: 0, endings: 0 });

/// A user, until it is dropped.
pub struct User(());

impl User {
    /// A new user. Fails while everything ends, since its objects would end too.
    pub fn new() -> Result<Arc<Self>> {
        let mut users = USERS.lock();
        if users.endings > 0 {
            return Err(Error::runtime(
                "revamp_uninitialize() is ending everything; make the user when it has returned",
            ));
        }
        users.count += 1;
        drop(users);
        Ok(Arc::new(Self(())))
    }
}

impl Drop for User {
    fn drop(&mut self) {
        USERS.lock().count -= 1;
    }
}

/// The end of everything, until it is dropped. No user is made meanwhile.
pub(super) struct Ending(());

impl Ending {
    /// Begins it; `None` while there is a user.
    pub fn begin() -> Option<Self> {
        let mut users = USERS.lock();
        if users.count > 0 {
            return None;
        }
        users.endings += 1;
        Some(Self(()))
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        USERS.lock().endings -= 1;
    }
}
