//! The macro that declares an error enum with one line for each variant.

/// Declares an error enum; a line holds the variant, its stable code and its sentence.
///
/// ```
/// dissensus_domain::errors! {
///     /// Why a file is refused.
///     #[derive(Debug)]
///     pub enum FileError {
///         Missing { path: std::path::PathBuf } => "file-missing", "there is no file {path}: check its name";
///         Columns { names: Vec<String> } => "columns", "the columns are {}" (names.join(", "));
///         Number(#[from] std::num::ParseIntError) => "number", transparent;
///         InSheet { sheet: String, source: Box<FileError> } => [source], "{source} (in the sheet {sheet})";
///     }
/// }
/// let inner = Box::new(FileError::Columns { names: vec!["id".into(), "text".into()] });
/// let error = FileError::InSheet { sheet: "a".into(), source: inner };
/// assert_eq!(error.code(), "columns");
/// assert_eq!(error.to_string(), "the columns are id, text (in the sheet a)");
/// assert_eq!(FileError::CODES, ["file-missing", "columns", "number"]);
/// ```
///
/// Sentences, their arguments, `transparent`, `source` and `#[from]` are those of `thiserror`, which the
/// calling crate depends on. `[field]` instead of a code takes the code of the error in that field. Without
/// codes, only the enum is declared. (`$none` never matches: it lets the macro repeat the word `transparent`
/// in its own span, without which `thiserror` finds no field.)
#[macro_export]
macro_rules! errors {
    (@code $inner:ident $field:tt) => { $inner.code() };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($variant:ident $(($($tuple:tt)*))? $({ $($fields:tt)* })? =>
                $($code:literal)? $([$field:tt])?,
                $($sentence:literal $(($($args:tt)+))?)? $(transparent $($none:lifetime)?)?;)+
        }
    ) => {
        $crate::errors! {
            $(#[$meta])*
            $vis enum $name {
                $($variant $(($($tuple)*))? $({ $($fields)* })? =>
                    $($sentence $(($($args)+))?)? $(transparent $($none)?)?;)+
            }
        }

        impl $name {
            /// Every code of this enum, in its order.
            pub const CODES: &[&str] = &[$($($code,)?)+];

            /// The stable code, for scripts and the window.
            pub fn code(&self) -> &'static str {
                match self {
                    $(Self::$variant { $($field: inner,)? .. } => {
                        $($code)? $($crate::errors!(@code inner $field))?
                    })+
                }
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($variant:ident $(($($tuple:tt)*))? $({ $($fields:tt)* })? =>
                $($sentence:literal $(($($args:tt)+))?)? $(transparent $($none:lifetime)?)?;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(::thiserror::Error)]
        $vis enum $name {
            $(
                #[error($($sentence $(, $($args)+)?)? $(transparent $($none)?)?)]
                $variant $(($($tuple)*))? $({ $($fields)* })?,
            )+
        }
    };
}
