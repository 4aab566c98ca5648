//! The users of the library in one process (revamp_user_create). While there is a user, revamp_uninitialize() does nothing
//! (decision 41).

use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use std::sync::Arc;

struct Users {
    count: usize,
    /// The number of threads that are ending the runtime.
    endings: usize,
}

static USERS: Mutex<Users, { rank::USERS }> = Mutex::new(Users { count: 0, endings: 0 });

/// A user of the library. The user ends when this object is dropped.
pub struct User(());

impl User {
    /// A new user. Fails while a thread ends the runtime, because that would also end the objects of the user.
    pub fn new() -> Result<Arc<Self>> {
        let mut users = USERS.lock();
        if users.endings > 0 {
            return Err(Error::runtime(
                "revamp_uninitialize() is running; create the user after revamp_uninitialize() has returned",
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

/// Exists while a thread ends the runtime. Meanwhile no user can be created.
pub(super) struct Ending(());

impl Ending {
    /// Begins the end of the runtime; `None` while there is a user.
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
