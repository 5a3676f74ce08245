//! A file of a part in the place that it has in the whole.

use std::fs;
use std::path::Path;

use crate::Error;
use crate::dataset::{TableFile, temporary_in};

/// Puts a table's file of the dataset at `from` into the one at `to`, under the same name: a second name for the same bytes where the
/// file system can do that, else a copy. A file that is there already, and is the same, stays.
///
/// # Errors
/// When it can't be read, isn't what the part's manifest says, or can't be written.
pub(super) fn bring(
    file: &TableFile,
    from: &Path,
    to: &Path,
    before_change: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let source = from.join(&file.path);
    match file.is_whole(from) {
        Ok(true) => {}
        Ok(false) => {
            return Err(Error::Parts {
                reason: format!(
                    "{} was changed since it was written; read that shard again",
                    source.display()
                ),
            });
        }
        Err(error) => {
            return Err(Error::Parts {
                reason: format!(
                    "{} can't be read: {error}; read that shard again",
                    source.display()
                ),
            });
        }
    }
    if file.is_whole(to).unwrap_or(false) {
        return Ok(());
    }
    let place = to.join(&file.path);
    let fail = |source| Error::Write {
        path: place.clone(),
        source,
    };
    let folder = place.parent().unwrap_or(to);
    fs::create_dir_all(folder).map_err(fail)?;
    before_change()?;
    // Aside and renamed, so that nobody sees a half-made file, whichever way it came.
    let temporary = temporary_in(folder).map_err(fail)?;
    let aside = temporary.into_temp_path();
    fs::remove_file(&aside).map_err(fail)?;
    if fs::hard_link(&source, &aside).is_err() {
        fs::copy(&source, &aside).map_err(fail)?;
    }
    aside.persist(&place).map_err(|error| fail(error.error))
}
