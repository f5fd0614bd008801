//! A result file that is written beside its place, and what it then was.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::engine::Fnv;
use crate::error::{Error, Result};

/// A file that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// FNV-1a of its bytes.
    pub fnv1a: u64,
}

/// Writes a small file as a whole.
pub fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> Result<Written> {
    let mut file = Staged::create(folder, name)?;
    file.out.write_all(bytes).map_err(Error::output(&file.place))?;
    file.finish()
}

/// A file that is written beside its place and put there when it is complete.
pub struct Staged {
    name: String,
    place: PathBuf,
    staged: PathBuf,
    out: Hashed,
}

impl Staged {
    /// Begins it.
    pub fn create(folder: &Path, name: &str) -> Result<Staged> {
        let place = folder.join(name);
        let staged = folder.join(format!(".{name}.new"));
        let file = File::create(&staged).map_err(Error::output(&place))?;
        let out =
            Hashed { file: BufWriter::with_capacity(1 << 18, file), bytes: 0, fnv: Fnv::new() };
        Ok(Staged { name: name.to_owned(), place, staged, out })
    }

    /// Writes rows until `write` is done; into a name that ends in .gz they go packed.
    pub fn rows(
        &mut self,
        write: impl FnOnce(&mut Rows<'_>) -> std::result::Result<(), RowError>,
    ) -> Result<()> {
        let written = match self.name.ends_with(".gz") {
            false => rows(&mut self.out, write),
            true => {
                // Its header has no date, so that the same rows are the same bytes.
                let mut packer = GzEncoder::new(&mut self.out, Compression::default());
                rows(&mut packer, write)
                    .and_then(|()| packer.try_finish().map_err(RowError::Output))
            }
        };
        written.map_err(|error| match error {
            RowError::Output(error) => Error::output(&self.place)(error),
            RowError::Other(error) => error,
        })
    }

    /// Puts the file in its place once it is on the disk.
    pub fn finish(self) -> Result<Written> {
        let Hashed { file, bytes, fnv } = self.out;
        let put = || -> io::Result<()> {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()?;
            fs::rename(&self.staged, &self.place)
        };
        put().map_err(Error::output(&self.place))?;
        Ok(Written { name: self.name, bytes, fnv1a: fnv.value() })
    }
}

/// Takes the rows of a table.
pub type Rows<'a> = csv::Writer<&'a mut dyn Write>;

fn rows(
    out: &mut dyn Write,
    write: impl FnOnce(&mut Rows<'_>) -> std::result::Result<(), RowError>,
) -> std::result::Result<(), RowError> {
    let mut writer = csv::Writer::from_writer(out);
    write(&mut writer)?;
    writer.flush().map_err(RowError::Output)
}

/// Why a row is not written.
pub enum RowError {
    /// The file cannot be written.
    Output(io::Error),
    /// There is no row to write.
    Other(Error),
}

impl From<csv::Error> for RowError {
    fn from(error: csv::Error) -> RowError {
        RowError::Output(error.into())
    }
}

impl From<Error> for RowError {
    fn from(error: Error) -> RowError {
        RowError::Other(error)
    }
}

/// Counts and hashes what goes into a file.
struct Hashed {
    file: BufWriter<File>,
    bytes: u64,
    fnv: Fnv,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        self.fnv.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
