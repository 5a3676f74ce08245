//! Ctrl-C: the first asks the work to stop and clean up, the second kills.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::exit::{self, Status};
use crate::failure::Failure;

/// How long a Ctrl-C may wait before it is noticed.
const NOTICE: Duration = Duration::from_millis(50);

/// Whether the user asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens for Ctrl-C from now on. Where the system refuses a handler, Ctrl-C kills, as it does by default.
    pub fn listen() -> Self {
        let interrupt = Self::default();
        let asked = Arc::clone(&interrupt.asked);
        let _ = ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::SeqCst) {
                exit::at_once(Status::Interrupted);
            }
        });
        interrupt
    }

    /// The flag that libraries look at.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }

    /// Fails once the user asked to stop.
    pub fn check(&self) -> Result<(), Failure> {
        if self.asked.load(Ordering::SeqCst) {
            return Err(Failure::interrupted());
        }
        Ok(())
    }

    /// Runs work that can't be asked to stop, and leaves it behind when the user doesn't want to wait for it.
    ///
    /// Only for work that writes nothing: its thread ends with the process.
    pub fn or_abandon<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            // The receiver is gone only when nobody waits any more.
            let _ = sender.send(work());
        });
        loop {
            match receiver.recv_timeout(NOTICE) {
                Ok(value) => return Ok(value),
                Err(RecvTimeoutError::Timeout) => self.check()?,
                // Nothing was sent: the work panicked, and the hook has said so.
                Err(RecvTimeoutError::Disconnected) => match thread.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => return Err(Failure::new("failed to hear from a thread")),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_ends_gives_its_value() {
        assert_eq!(
            Interrupt::default()
                .or_abandon(|| 7)
                .map_err(|e| e.to_string()),
            Ok(7)
        );
    }

    #[test]
    fn work_is_left_behind_after_ctrl_c() {
        let interrupt = Interrupt::default();
        interrupt.flag().store(true, Ordering::SeqCst);
        let never = interrupt.or_abandon(|| std::thread::sleep(Duration::from_secs(3600)));
        assert_eq!(never.map_err(|e| e.status()), Err(Status::Interrupted));
    }
}
