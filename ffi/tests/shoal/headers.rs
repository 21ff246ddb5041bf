//! The headers compile alone, in each language that they are for, without a warning.

use std::io::Write;
use std::process::Stdio;

use crate::native::{compiler, Language};

fn compiles(language: Language, header: &str, code: &str) {
    let name = if language == Language::C { "c" } else { "c++" };
    let mut command = compiler(language);
    command.args(["-fsyntax-only", "-x", name, "-"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a compiler");
    let text = format!("#include <{header}>\n#include <{header}>\n{code}\n");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("the compiler reads");
    let output = child.wait_with_output().expect("the compiler ends");
    assert!(output.status.success(), "{header} as {language:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn shoal_h_is_c11_and_cpp17_without_warnings() {
    let each: String = crate::common::of_shoal_h().iter().map(|name| format!("  (void)&{name};\n")).collect();
    for language in [Language::C, Language::Cpp] {
        compiles(language, "shoal.h", &format!("void use_each(void);\nvoid use_each(void)\n{{\n{each}}}"));
    }
}

#[test]
fn shoal_hpp_is_cpp17_without_warnings() {
    compiles(Language::Cpp, "shoal.hpp", "void use(); void use() {shoal::Interrupt interrupt{};}");
}
