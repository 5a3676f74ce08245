//! The mark of a run at work: from the first change to a dataset until its new manifest, the manifest says that it isn't whole, so
//! that nobody reads one half of the old and one of the new, even after a run that was killed.

use std::sync::{Mutex, PoisonError};

use super::folder::Folder;
use super::manifest::Manifest;
use crate::Error;

/// Marks the dataset once, before the first change.
pub(crate) struct Unfinished<'a> {
    folder: &'a Folder,
    manifest: Manifest,
    marked: Mutex<bool>,
}

impl<'a> Unfinished<'a> {
    /// `manifest` lists what stays of earlier runs, and isn't complete.
    pub(crate) fn new(folder: &'a Folder, manifest: Manifest) -> Self {
        Self {
            folder,
            manifest,
            marked: Mutex::new(false),
        }
    }

    /// To be called before each change.
    ///
    /// # Errors
    /// When the manifest can't be written; the change must not be made then.
    pub(crate) fn mark(&self) -> Result<(), Error> {
        let mut marked = self.marked.lock().unwrap_or_else(PoisonError::into_inner);
        if !*marked {
            self.manifest.save(self.folder.root())?;
            *marked = true;
        }
        Ok(())
    }

    /// Whether anything may have changed.
    pub(crate) fn is_marked(&self) -> bool {
        *self.marked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
