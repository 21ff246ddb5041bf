//! Why a type support cannot be used.

use shoal_rmw::cdr::CompileError;
use thiserror::Error;

/// A type support that cannot be used.
#[derive(Debug, Error)]
pub enum TypeSupportError {
    /// No handle at all.
    #[error("the type support handle is NULL")]
    NullHandle,
    /// A handle that cannot find introspection.
    #[error(
        "type support '{got}' offers neither rosidl_typesupport_introspection_c nor rosidl_typesupport_introspection_cpp; \
         build and install the introspection type support of the interface package ({details})"
    )]
    NoIntrospection {
        /// Identifier of the handle that was given.
        got: String,
        /// What the look-ups said.
        details: String,
    },
    /// Introspection with something missing that must be there.
    #[error("type support of {message} is broken: {what}; rebuild the interface package")]
    Broken {
        /// Type name, as far as it is known.
        message: String,
        /// What is missing.
        what: String,
    },
    /// A field of a type that CDR cannot carry alike on all machines.
    #[error("type {message}: field '{field}' is a {kind}, which cannot be serialized; use float64")]
    Unsupported {
        /// Type name.
        message: String,
        /// Field name.
        field: String,
        /// What it is.
        kind: &'static str,
    },
    /// A layout that no plan can be compiled for.
    #[error(transparent)]
    Compile(#[from] CompileError),
}
