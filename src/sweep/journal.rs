//! What a sweep has finished: a file that only grows, so that a kill at any moment loses nothing but the
//! runs under way.
//!
//! ```text
//! {"schema":"retrylab.journal/1", …}\n      the header: which sweep this is
//! 0123456789abcdef\n                        its checksum
//! run, fingerprint, events, values…, checksum      records of one length, little endian
//! ```
//! A record is written with one call when its run is over, in whatever order that is. Records that
//! are torn or do not fit their checksum count as not written. The checksum is FNV-1a: no change of
//! a single byte keeps it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::header::Header;
use crate::engine::digest;
use crate::error::{Error, Result};
use crate::output::JOURNAL;

/// The result of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its number: cell · replications + replication.
    pub run: u64,
    /// Hash of the trajectory.
    pub fingerprint: u64,
    /// Events handled.
    pub events: u64,
    /// A value for each column of the header.
    pub values: Vec<Option<f64>>,
}

/// Stands for no value; no metric is ever this.
const NONE: u64 = 0x7ff8_0000_0000_dead;

/// An open journal, which no other process can open.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    header: Header,
    /// Where records start.
    start: u64,
    records: u32,
    /// Per run of the shard: the number of its record + 1; 0 for none.
    places: Vec<u32>,
    damage: Damage,
}

/// What was found to be broken when a journal was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Records that do not fit their checksum, by number.
    pub records: Vec<u32>,
    /// Bytes of a record that was not written to its end.
    pub torn_bytes: u64,
}

impl Journal {
    /// A new journal in `folder`, in the place of an old one.
    pub fn create(folder: &Path, header: Header) -> Result<Journal> {
        let path = folder.join(JOURNAL);
        let error = |e| Error::output(&path)(e);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = file.map_err(error)?;
        lock(&file, folder)?;
        let text = header.text()?;
        let head = format!("{text}\n{:016x}\n", digest(text.as_bytes()));
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.write_all(head.as_bytes())?;
            file.sync_all()
        };
        write(&mut file).map_err(error)?;
        let places = vec![0; header.runs_of_shard() as usize];
        let start = head.len() as u64;
        Ok(Journal { path, file, header, start, records: 0, places, damage: Damage::default() })
    }

    /// True when `folder` has a journal with its header, or something else in its place; a journal
    /// that was killed before has no runs.
    pub fn is_begun(folder: &Path) -> bool {
        let Ok(file) = File::open(folder.join(JOURNAL)) else {
            return folder.join(JOURNAL).exists();
        };
        let mut reader = BufReader::new(file.take(MOST_HEADER));
        let mut line = || {
            let mut bytes = Vec::new();
            reader.read_until(b'\n', &mut bytes).is_ok() && bytes.ends_with(b"\n")
        };
        line() && line()
    }

    /// The journal in `folder`, as far as it is whole.
    pub fn open(folder: &Path) -> Result<Journal> {
        let path = folder.join(JOURNAL);
        let bad = |e: io::Error| Error::Input(format!("{}: {e}", path.display()));
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(bad)?;
        lock(&file, folder)?;
        let mut reader = BufReader::with_capacity(1 << 16, &file);
        let (header, start) = read_header(&mut reader, &path)?;
        let mut journal = Journal {
            places: vec![0; header.runs_of_shard() as usize],
            path: path.clone(),
            file: file.try_clone().map_err(bad)?,
            header,
            start,
            records: 0,
            damage: Damage::default(),
        };
        journal.scan(reader)?;
        Ok(journal)
    }

    fn scan(&mut self, mut reader: impl Read) -> Result<()> {
        let bad = |path: &Path, e: io::Error| Error::Input(format!("{}: {e}", path.display()));
        let (mut bytes, mut again) = (Vec::new(), Vec::new());
        loop {
            bytes.clear();
            let length = self.length() as u64;
            let read = reader.by_ref().take(length).read_to_end(&mut bytes);
            let read = read.map_err(|e| bad(&self.path, e))? as u64;
            if read < length {
                self.damage.torn_bytes = read;
                break;
            }
            let number = self.records;
            self.records = number.checked_add(1).ok_or_else(|| self.foreign("it is too long"))?;
            let whole = decode(&bytes).filter(|record| self.slot(record.run).is_some());
            match whole {
                None => self.damage.records.push(number),
                // Looked at later: looking back would move the reader.
                Some(record) if self.has(record.run) => again.push((record, number)),
                Some(record) => self.note(&record, number)?,
            }
        }
        again.iter().try_for_each(|(record, number)| self.note(record, *number))?;
        if self.damage.torn_bytes > 0 {
            let end = self.start + u64::from(self.records) * self.length() as u64;
            self.file.set_len(end).map_err(Error::output(&self.path))?;
        }
        Ok(())
    }

    /// Notes where a record is. Twice the same is once; two that differ are no journal of ours.
    fn note(&mut self, record: &Record, number: u32) -> Result<()> {
        let Some(slot) = self.slot(record.run) else { return Ok(()) };
        if self.places[slot] == 0 {
            self.places[slot] = number + 1;
            return Ok(());
        }
        let before = self.read(record.run)?;
        match before.as_ref() == Some(record) {
            true => Ok(()),
            false => Err(self.foreign(&format!("run {} is there twice, and differs", record.run))),
        }
    }

    fn foreign(&self, what: &str) -> Error {
        Error::Input(format!("{}: {what}; start anew with --fresh", self.path.display()))
    }

    /// Which sweep it is of.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What was broken in it.
    pub fn damage(&self) -> &Damage {
        &self.damage
    }

    /// The place of a run in `places`; None when it is not of this shard.
    fn slot(&self, run: u64) -> Option<usize> {
        self.header.shard.slot(run).filter(|slot| *slot < self.places.len())
    }

    /// True when the run is finished.
    pub fn has(&self, run: u64) -> bool {
        self.slot(run).is_some_and(|slot| self.places[slot] > 0)
    }

    /// How many runs are finished.
    pub fn finished(&self) -> u64 {
        self.places.iter().filter(|place| **place > 0).count() as u64
    }

    /// Bytes of a record.
    fn length(&self) -> usize {
        8 * (self.header.columns.len() + 4)
    }

    /// Adds the record of a finished run.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        let bytes = encode(record);
        debug_assert_eq!(bytes.len(), self.length(), "a record has a value for each column");
        let at = self.start + u64::from(self.records) * self.length() as u64;
        let write = |file: &mut File| {
            file.seek(SeekFrom::Start(at))?;
            file.write_all(&bytes)
        };
        write(&mut self.file).map_err(Error::output(&self.path))?;
        let number = self.records;
        self.records = number.checked_add(1).ok_or_else(|| self.foreign("it is too long"))?;
        self.note(record, number)
    }

    /// The record of a run; None when it is not finished.
    pub fn read(&mut self, run: u64) -> Result<Option<Record>> {
        let Some(place) = self.slot(run).map(|slot| self.places[slot]).filter(|place| *place > 0)
        else {
            return Ok(None);
        };
        let mut bytes = vec![0; self.length()];
        let at = self.start + u64::from(place - 1) * self.length() as u64;
        let mut read = |file: &mut File| {
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(&mut bytes)
        };
        read(&mut self.file).map_err(|e| Error::Input(format!("{}: {e}", self.path.display())))?;
        decode(&bytes).map(Some).ok_or_else(|| self.foreign(&format!("run {run} has changed")))
    }

    /// Waits until all of it is on the disk.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(Error::output(&self.path))
    }
}

/// Locks a journal until the process ends, however it ends.
fn lock(file: &File, folder: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::Output {
            path: folder.to_owned(),
            source: io::Error::new(
                io::ErrorKind::ResourceBusy,
                "another process works on this sweep; wait for it, or name another folder with -o",
            ),
        }),
        Err(TryLockError::Error(e)) => Err(Error::output(folder)(e)),
    }
}

/// Longest header that is read.
const MOST_HEADER: u64 = 10_000_000;

fn read_header(reader: &mut impl BufRead, path: &Path) -> Result<(Header, u64)> {
    let no_journal = || Error::Input(format!("{}: this is no journal of a sweep", path.display()));
    let mut line = || {
        let mut bytes = Vec::new();
        let read = reader.by_ref().take(MOST_HEADER).read_until(b'\n', &mut bytes);
        read.map_err(|e| Error::Input(format!("{}: {e}", path.display())))?;
        let ended = bytes.pop() == Some(b'\n');
        String::from_utf8(bytes).ok().filter(|_| ended).ok_or_else(no_journal)
    };
    let (text, checksum) = (line()?, line()?);
    if checksum != format!("{:016x}", digest(text.as_bytes())) {
        return Err(Error::Input(format!(
            "{}: the header is damaged; start anew with --fresh",
            path.display()
        )));
    }
    let header = Header::parse(&text).map_err(|problem| {
        Error::Input(format!("{}: {problem}; start anew with --fresh", path.display()))
    })?;
    Ok((header, (text.len() + checksum.len() + 2) as u64))
}

fn encode(record: &Record) -> Vec<u8> {
    let values = record.values.iter().map(|value| value.map_or(NONE, f64::to_bits));
    let words = [record.run, record.fingerprint, record.events].into_iter().chain(values);
    let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    bytes.extend(digest(&bytes).to_le_bytes());
    bytes
}

/// None when the bytes do not fit their checksum.
fn decode(bytes: &[u8]) -> Option<Record> {
    let (body, checksum) = bytes.split_last_chunk::<8>()?;
    if u64::from_le_bytes(*checksum) != digest(body) {
        return None;
    }
    let (chunks, _) = body.as_chunks::<8>();
    let mut words = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk));
    let (run, fingerprint, events) = (words.next()?, words.next()?, words.next()?);
    let value = |bits: u64| (bits != NONE).then(|| f64::from_bits(bits));
    Some(Record { run, fingerprint, events, values: words.map(value).collect() })
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::header;
    use super::*;

    fn record(run: u64) -> Record {
        Record { run, fingerprint: run * 7, events: 3, values: vec![Some(0.5 * run as f64), None] }
    }

    /// A journal of 12 runs of which all are finished, out of order.
    fn filled(folder: &Path) -> Vec<u8> {
        let mut journal = Journal::create(folder, header()).unwrap();
        for run in [3, 0, 1, 2, 11, 10, 9, 8, 4, 5, 6, 7] {
            journal.append(&record(run)).unwrap();
        }
        std::fs::read(folder.join(JOURNAL)).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let home = tempfile::tempdir().unwrap();
        filled(home.path());
        let mut journal = Journal::open(home.path()).unwrap();
        assert_eq!((journal.finished(), journal.damage()), (12, &Damage::default()));
        for run in 0..12 {
            assert_eq!(journal.read(run).unwrap(), Some(record(run)));
        }
        assert!(!journal.has(12));
        assert_eq!(journal.header(), &header());
    }

    #[test]
    fn a_journal_cut_anywhere_is_whole_as_far_as_it_goes() {
        let home = tempfile::tempdir().unwrap();
        let bytes = filled(home.path());
        let path = home.path().join(JOURNAL);
        let length = 8 * 6;
        let start = bytes.len() - 12 * length;
        for cut in 0..bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let opened = Journal::open(home.path());
            if cut < start {
                assert!(matches!(opened, Err(Error::Input(_))), "cut at {cut}");
                continue;
            }
            let mut journal = opened.unwrap();
            let whole = ((cut - start) / length) as u64;
            assert_eq!(journal.finished(), whole);
            assert_eq!(journal.damage().torn_bytes as usize, (cut - start) % length);
            // It goes on where it was torn.
            let missing: Vec<u64> = (0..12).filter(|run| !journal.has(*run)).collect();
            missing.iter().for_each(|run| journal.append(&record(*run)).unwrap());
            drop(journal);
            let mut journal = Journal::open(home.path()).unwrap();
            assert_eq!((journal.finished(), journal.damage()), (12, &Damage::default()));
            assert!((0..12).all(|run| journal.read(run).unwrap() == Some(record(run))));
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed_wherever_it_is() {
        let home = tempfile::tempdir().unwrap();
        let bytes = filled(home.path());
        let path = home.path().join(JOURNAL);
        let length = 8 * 6;
        let start = bytes.len() - 12 * length;
        for bit in 0..8 * bytes.len() {
            let (at, mask) = (bit / 8, 1u8 << (bit % 8));
            let mut flipped = bytes.clone();
            flipped[at] ^= mask;
            std::fs::write(&path, &flipped).unwrap();
            let opened = Journal::open(home.path());
            if at < start {
                assert!(matches!(opened, Err(Error::Input(_))), "byte {at}");
                continue;
            }
            let journal = opened.unwrap();
            assert_eq!(journal.damage().records, [((at - start) / length) as u32]);
            assert_eq!(journal.finished(), 11);
        }
    }

    #[test]
    fn a_record_that_is_there_twice_counts_once() {
        let home = tempfile::tempdir().unwrap();
        let whole = Header { replications: 3_000, ..header() };
        let mut journal = Journal::create(home.path(), whole.clone()).unwrap();
        for run in std::iter::once(0).chain(0..whole.runs()) {
            journal.append(&record(run)).unwrap();
        }
        drop(journal);
        let mut journal = Journal::open(home.path()).unwrap();
        assert_eq!((journal.finished(), journal.damage()), (whole.runs(), &Damage::default()));
        assert_eq!(journal.read(whole.runs() - 1).unwrap(), Some(record(whole.runs() - 1)));
        // One that differs is of no sweep.
        assert!(journal.append(&Record { events: 9, ..record(5) }).is_err());
    }

    #[test]
    fn two_processes_do_not_share_a_journal() {
        let home = tempfile::tempdir().unwrap();
        let first = Journal::create(home.path(), header()).unwrap();
        for second in [Journal::open(home.path()), Journal::create(home.path(), header())] {
            let error = second.unwrap_err();
            assert_eq!(error.exit_code(), 3);
            assert!(error.to_string().contains("another process"), "{error}");
        }
        drop(first);
        assert!(Journal::open(home.path()).is_ok());
    }
}
