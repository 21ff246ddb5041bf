//! Cross-process tests of rmw_shoal: real processes, real kills.
