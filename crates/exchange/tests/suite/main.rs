//! Reading and writing other tools' files. A single program, because each costs a link; tests that measure
//! the memory of their process are separate.

mod files;
mod formats;
mod real_data;
mod shapes;
