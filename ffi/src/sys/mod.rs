//! Bindings of the installed ROS headers, written by `build.rs`: the only source of C layouts and signatures here.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs, dead_code)]

include!(concat!(env!("OUT_DIR"), "/ros.rs"));
