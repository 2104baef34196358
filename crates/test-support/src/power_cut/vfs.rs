//! A layer below SQLite that passes everything to the system's own and records changes to files.
//!
//! It is SQLite's default from the first [`Recorder`] on, so that the code under test opens its connections
//! as usual. Files outside the watched folders are not recorded.

use super::{Recording, Step};
use rusqlite::ffi;
use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};

/// Records changes to the files of one folder, from its creation to [`Recorder::stop`].
#[derive(Debug)]
pub struct Recorder {
    folder: PathBuf,
}

struct Watched {
    recording: Recording,
    syncs_are_lost: bool,
}

static WATCHED: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

fn watched() -> MutexGuard<'static, Vec<Watched>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
    /// Begins recording. Existing contents of the folder count as being on disk.
    pub fn watch(folder: &Path) -> Self {
        Self::begin(folder, false)
    }

    /// Like [`Recorder::watch`], for a disk that confirms syncs without doing them: as with
    /// `synchronous=OFF`, everything written can be lost. Used to show that a test detects this.
    pub fn watch_losing_syncs(folder: &Path) -> Self {
        Self::begin(folder, true)
    }

    fn begin(folder: &Path, syncs_are_lost: bool) -> Self {
        register();
        let folder = folder.canonicalize().unwrap();
        let mut before = BTreeMap::new();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                before.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
        let recording = Recording { folder: folder.clone(), before, steps: Vec::new() };
        watched().push(Watched { recording, syncs_are_lost });
        Self { folder }
    }

    /// Records how much is confirmed to the user.
    pub fn note(&self, confirmed: u64) {
        self.add(Step::Note(confirmed));
    }

    /// Records that a file of the folder was renamed and that the folder was synced, which happens outside
    /// SQLite.
    pub fn renamed(&self, from: &Path, to: &Path) {
        let inside = |path: &Path| self.folder.join(path.file_name().unwrap());
        self.add(Step::Rename(inside(from), inside(to)));
    }

    /// The steps recorded so far.
    pub fn steps(&self) -> Vec<Step> {
        let watched = watched();
        let found = watched.iter().find(|w| w.recording.folder == self.folder);
        found.map(|w| w.recording.steps.clone()).unwrap()
    }

    /// Ends recording.
    pub fn stop(self) -> Recording {
        let mut watched = watched();
        let at = watched.iter().position(|w| w.recording.folder == self.folder).unwrap();
        watched.remove(at).recording
    }

    fn add(&self, step: Step) {
        if let Some(w) = watched().iter_mut().find(|w| w.recording.folder == self.folder) {
            w.recording.steps.push(step);
        }
    }
}

/// Records a step on a file if its folder is watched.
fn record(path: &Path, step: impl FnOnce(PathBuf) -> Step) {
    // The shared memory file of a journal is created again when the file is opened.
    if path.as_os_str().as_bytes().ends_with(b"-shm") {
        return;
    }
    let mut watched = watched();
    let Some(w) = watched.iter_mut().find(|w| path.parent() == Some(&w.recording.folder)) else { return };
    let step = step(path.to_owned());
    if !(w.syncs_are_lost && matches!(step, Step::Sync(_))) {
        w.recording.steps.push(step);
    }
}

/// Calls the system's own function of this name on the underlying file.
macro_rules! pass {
    ($file:expr, $function:ident, $missing:expr $(, $argument:expr)*) => {{
        let real = real($file);
        match (*(*real).pMethods).$function {
            Some(next) => next(real $(, $argument)*),
            None => $missing,
        }
    }};
}
/// One open file: SQLite sees its beginning, and the system's own file follows in the same memory.
#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    /// The name; null for a temporary file, which has none. Freed by `close`.
    path: *mut PathBuf,
}

struct Layers {
    /// The system's own.
    below: *mut ffi::sqlite3_vfs,
    ours: Box<ffi::sqlite3_vfs>,
}

// SAFETY: both are written once, before they are registered, and only read afterwards.
#[allow(unsafe_code, reason = "SQLite's structures are made of raw pointers")]
unsafe impl Send for Layers {}
#[allow(unsafe_code, reason = "as above")]
unsafe impl Sync for Layers {}

static LAYERS: OnceLock<Layers> = OnceLock::new();

#[allow(unsafe_code, reason = "a layer below SQLite is a table of C functions")]
fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: SQLite is initialised first; the table that is found lives as long as the process, and so
        // does ours.
        unsafe {
            assert_eq!(ffi::sqlite3_initialize(), ffi::SQLITE_OK);
            let below = ffi::sqlite3_vfs_find(std::ptr::null());
            assert!(!below.is_null());
            // Functions unrelated to files are the system's; they do not look at the table they are in.
            let mut ours = Box::new(*below);
            ours.pNext = std::ptr::null_mut();
            ours.zName = c"recording".as_ptr();
            ours.szOsFile = size_of::<File>() as c_int + (*below).szOsFile;
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            let layers = LAYERS.get_or_init(|| Layers { below, ours });
            let table = std::ptr::from_ref::<ffi::sqlite3_vfs>(&layers.ours).cast_mut();
            assert_eq!(ffi::sqlite3_vfs_register(table, 1), ffi::SQLITE_OK);
        }
    });
}

fn below() -> *mut ffi::sqlite3_vfs {
    LAYERS.get().map_or(std::ptr::null_mut(), |layers| layers.below)
}

/// The system's own file behind ours.
///
/// # Safety
/// `file` has the size of our `szOsFile`, allocated by SQLite.
#[allow(unsafe_code, reason = "SQLite hands out one piece of memory for both")]
unsafe fn real(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    // SAFETY: the memory continues for the system's `szOsFile` after our part.
    unsafe { file.cast::<u8>().add(size_of::<File>()).cast() }
}

/// # Safety
/// Same as [`real`], and the file is open.
#[allow(unsafe_code, reason = "reads what SQLite hands back to us")]
unsafe fn path_of<'a>(file: *mut ffi::sqlite3_file) -> Option<&'a Path> {
    // SAFETY: `open` set it to a box of ours or to null, and only `close` frees it.
    unsafe { (*file.cast::<File>()).path.as_ref().map(PathBuf::as_path) }
}

/// # Safety
/// `name` is null or ends with a zero byte.
#[allow(unsafe_code, reason = "a C string")]
unsafe fn path_from(name: *const c_char) -> Option<PathBuf> {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { (!name.is_null()).then(|| CStr::from_ptr(name)) }?;
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// SAFETY of all of these: SQLite calls them by its own rules, with files that `open` opened.
#[allow(unsafe_code, reason = "a layer below SQLite is a table of C functions")]
unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: see above; `base.pMethods` must be null where opening fails.
    unsafe {
        let ours = file.cast::<File>();
        (*ours).base.pMethods = std::ptr::null();
        (*ours).path = std::ptr::null_mut();
        let path = path_from(name);
        let is_new = path.as_ref().is_some_and(|path| !path.exists());
        let Some(next) = (*below()).xOpen else { return ffi::SQLITE_CANTOPEN };
        let done = next(below(), name, real(file), flags, out);
        if done != ffi::SQLITE_OK {
            return done;
        }
        if let Some(path) = path {
            if is_new {
                record(&path, Step::Create);
            }
            (*ours).path = Box::into_raw(Box::new(path));
        }
        (*ours).base.pMethods = &raw const METHODS.0;
        done
    }
}

#[allow(unsafe_code, reason = "as `open`")]
unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: see `open`.
    unsafe {
        let Some(next) = (*below()).xDelete else { return ffi::SQLITE_IOERR_DELETE };
        let done = next(below(), name, sync);
        if let (ffi::SQLITE_OK, Some(path)) = (done, path_from(name)) {
            record(&path, |path| Step::Delete(path, sync != 0));
        }
        done
    }
}

#[allow(unsafe_code, reason = "as `open`")]
unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: see `open`; the name is freed once, because SQLite closes a file once.
    unsafe {
        let path = std::mem::replace(&mut (*file.cast::<File>()).path, std::ptr::null_mut());
        if !path.is_null() {
            drop(Box::from_raw(path));
        }
        pass!(file, xClose, ffi::SQLITE_IOERR_CLOSE)
    }
}

#[allow(unsafe_code, reason = "as `open`")]
unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    count: c_int,
    place: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: see `open`; SQLite passes `count` bytes.
    unsafe {
        let done = pass!(file, xWrite, ffi::SQLITE_IOERR_WRITE, bytes, count, place);
        if let (ffi::SQLITE_OK, Some(path)) = (done, path_of(file)) {
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), count.unsigned_abs() as usize);
            record(path, |path| Step::Write(path, place.unsigned_abs(), bytes.to_vec()));
        }
        done
    }
}

#[allow(unsafe_code, reason = "as `open`")]
unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    // SAFETY: see `open`.
    unsafe {
        let done = pass!(file, xTruncate, ffi::SQLITE_IOERR_TRUNCATE, size);
        if let (ffi::SQLITE_OK, Some(path)) = (done, path_of(file)) {
            record(path, |path| Step::Truncate(path, size.unsigned_abs()));
        }
        done
    }
}

#[allow(unsafe_code, reason = "as `open`")]
unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: see `open`.
    unsafe {
        let done = pass!(file, xSync, ffi::SQLITE_IOERR_FSYNC, flags);
        if let (ffi::SQLITE_OK, Some(path)) = (done, path_of(file)) {
            record(path, Step::Sync);
        }
        done
    }
}

/// Defines a function that only delegates.
macro_rules! passing {
    ($name:ident, $function:ident ( $($argument:ident : $kind:ty),* ), $missing:expr) => {
        #[allow(unsafe_code, reason = "as `open`")]
        unsafe extern "C" fn $name(file: *mut ffi::sqlite3_file $(, $argument: $kind)*) -> c_int {
            // SAFETY: see `open`.
            unsafe { pass!(file, $function, $missing $(, $argument)*) }
        }
    };
}

passing!(read, xRead(into: *mut c_void, count: c_int, place: ffi::sqlite3_int64), ffi::SQLITE_IOERR_READ);
passing!(file_size, xFileSize(size: *mut ffi::sqlite3_int64), ffi::SQLITE_IOERR_FSTAT);
passing!(lock, xLock(kind: c_int), ffi::SQLITE_IOERR_LOCK);
passing!(unlock, xUnlock(kind: c_int), ffi::SQLITE_IOERR_UNLOCK);
passing!(check_lock, xCheckReservedLock(held: *mut c_int), ffi::SQLITE_IOERR_CHECKRESERVEDLOCK);
passing!(control, xFileControl(what: c_int, argument: *mut c_void), ffi::SQLITE_NOTFOUND);
passing!(sector_size, xSectorSize(), 4096);
passing!(characteristics, xDeviceCharacteristics(), 0);
passing!(shm_map, xShmMap(page: c_int, size: c_int, extend: c_int, out: *mut *mut c_void), ffi::SQLITE_IOERR_SHMMAP);
passing!(shm_lock, xShmLock(offset: c_int, count: c_int, flags: c_int), ffi::SQLITE_IOERR_SHMLOCK);
passing!(shm_unmap, xShmUnmap(delete: c_int), ffi::SQLITE_OK);

#[allow(unsafe_code, reason = "as `open`")]
unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    // SAFETY: see `open`.
    unsafe { pass!(file, xShmBarrier, ()) }
}

struct Methods(ffi::sqlite3_io_methods);

// SAFETY: a table of functions that is never written to.
#[allow(unsafe_code, reason = "the table has raw function pointers only")]
unsafe impl Sync for Methods {}

/// Version 2: with shared memory for the journal, without memory-mapping of the file, whose writes could
/// not be recorded.
static METHODS: Methods = Methods(ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_lock),
    xFileControl: Some(control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
});
