//! LIKE.

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern(Vec<Part>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    /// This byte.
    Byte(u8),
    /// One character.
    One,
    /// Any text, also none.
    Any,
}

impl Pattern {
    pub fn new(text: &str) -> Pattern {
        let part = |byte| match byte {
            b'%' | b'*' => Part::Any,
            b'_' | b'?' => Part::One,
            byte => Part::Byte(byte),
        };
        let mut parts: Vec<Part> = text.bytes().map(part).collect();
        parts.dedup_by(|next, before| *next == Part::Any && *before == Part::Any);
        Pattern(parts)
    }

    /// Whether the whole text matches: at most its length times the pattern's steps, and no recursion.
    pub fn matches(&self, text: &[u8]) -> bool {
        let (mut part, mut at) = (0, 0);
        // Where to go on when what follows the last Any does not match: the Any, and one character further on.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let advanced = match self.0.get(part) {
                None if at == text.len() => return true,
                None => None,
                Some(Part::Any) => {
                    retry = Some((part + 1, at));
                    Some(at)
                }
                Some(Part::One) => (at < text.len()).then(|| character_end(text, at)),
                Some(Part::Byte(byte)) => (text.get(at) == Some(byte)).then_some(at + 1),
            };
            match (advanced, &mut retry) {
                (Some(next), _) => (part, at) = (part + 1, next),
                (None, Some((after, from))) if *from < text.len() => {
                    *from = character_end(text, *from);
                    (part, at) = (*after, *from);
                }
                (None, _) => return false,
            }
        }
    }
}

/// Behind the UTF-8 character at `at`; bytes that are no UTF-8 are characters of their own.
fn character_end(text: &[u8], at: usize) -> usize {
    let continues = |byte: &&u8| **byte & 0xc0 == 0x80;
    let most = match text[at] {
        0xc2..=0xdf => 1,
        0xe0..=0xef => 2,
        0xf0..=0xf4 => 3,
        _ => 0,
    };
    at + 1 + text[at + 1..].iter().take(most).take_while(continues).count()
}
