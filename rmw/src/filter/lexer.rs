//! Characters → tokens.

use super::ast::Place;
use super::error::{Fault, FilterError, Token};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lexeme {
    /// A field's name or a keyword: which one depends on where it stands.
    Name(String),
    Integer(i128),
    Float(f64),
    Text(String),
    Parameter(usize),
    Symbol(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub lexeme: Lexeme,
    pub place: Place,
}

/// Longest first.
const SYMBOLS: [&str; 13] = ["<>", "!=", "<=", ">=", "=", "<", ">", "(", ")", "[", "]", ",", "."];

/// All tokens of an expression; the last one is `End`.
pub(super) fn tokens(expression: &str) -> Result<Vec<Spot>, FilterError> {
    let mut lexer = Lexer { rest: expression, column: 1 };
    let mut tokens = Vec::new();
    loop {
        let spot = lexer.next()?;
        let ended = spot.lexeme == Lexeme::End;
        tokens.push(spot);
        if ended {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    column: usize,
}

type Read = Result<Lexeme, Fault>;

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Result<Spot, FilterError> {
        let blank = self.rest.len() - self.rest.trim_start().len();
        self.cut(blank);
        let (column, before) = (self.column, self.rest);
        let read = self.read();
        // A failed read has cut what it could not read.
        let taken = &before[..before.len() - self.rest.len()];
        let place = Place { column, token: Token((!taken.is_empty()).then(|| taken.to_owned())) };
        read.map_err(|fault| place.fault(fault)).map(|lexeme| Spot { lexeme, place })
    }

    fn read(&mut self) -> Read {
        let Some(first) = self.rest.chars().next() else { return Ok(Lexeme::End) };
        let mut following = self.rest.chars().skip(1);
        let second = following.next().unwrap_or(' ');
        let third = following.next().unwrap_or(' ');
        let starts_number = match first {
            '+' | '-' => second.is_ascii_digit() || second == '.' && third.is_ascii_digit(),
            '.' => second.is_ascii_digit(),
            _ => first.is_ascii_digit(),
        };
        match first {
            _ if starts_number => self.number(),
            '\'' | '`' => self.text(),
            '%' => self.parameter(),
            _ if first.is_ascii_alphabetic() || first == '_' => Ok(Lexeme::Name(self.word().to_owned())),
            _ => self.symbol(first),
        }
    }

    /// Takes `bytes` bytes, which end at a character's end.
    fn cut(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.column += taken.chars().count();
        self.rest = rest;
        taken
    }

    fn cut_while(&mut self, mut belongs: impl FnMut(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        self.cut(end)
    }

    fn word(&mut self) -> &'a str {
        self.cut_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    fn symbol(&mut self, first: char) -> Read {
        match SYMBOLS.iter().find(|symbol| self.rest.starts_with(**symbol)) {
            Some(symbol) => {
                self.cut(symbol.len());
                Ok(Lexeme::Symbol(symbol))
            }
            None => {
                self.cut(first.len_utf8());
                Err(Fault::Character)
            }
        }
    }

    fn parameter(&mut self) -> Read {
        self.cut(1);
        let index = self.word();
        let digits = !index.is_empty() && index.len() <= 2 && index.bytes().all(|b| b.is_ascii_digit());
        match index.parse() {
            Ok(index) if digits => Ok(Lexeme::Parameter(index)),
            _ => Err(Fault::ParameterName),
        }
    }

    /// Everything that could belong to a number is taken, so that `12abc` is one wrong number and not two tokens.
    fn number(&mut self) -> Read {
        let mut before = ' ';
        let text = self.cut_while(|c| {
            let sign = matches!(c, '+' | '-') && matches!(before, ' ' | 'e' | 'E');
            before = c;
            sign || c.is_ascii_alphanumeric() || matches!(c, '.' | '_')
        });
        let (sign, magnitude) = match text.as_bytes()[0] {
            b'-' => (-1, &text[1..]),
            b'+' => (1, &text[1..]),
            _ => (1, text),
        };
        if let Some(digits) = magnitude.strip_prefix("0x").or_else(|| magnitude.strip_prefix("0X")) {
            let bits = u64::from_str_radix(digits, 16).map_err(|_| Fault::Number)?;
            return Ok(Lexeme::Integer(sign * i128::from(bits)));
        }
        if magnitude.bytes().all(|b| b.is_ascii_digit()) {
            // Wider than any field: a larger value could only be a slip.
            return magnitude.parse::<u64>().map(|n| Lexeme::Integer(sign * i128::from(n))).map_err(|_| Fault::Number);
        }
        // Not "inf" or "nan", which begin with a letter, nor "1inf", which parse refuses.
        text.parse().ok().filter(|f: &f64| f.is_finite()).map(Lexeme::Float).ok_or(Fault::Number)
    }

    fn text(&mut self) -> Read {
        self.cut(1);
        let mut text = String::new();
        loop {
            text.push_str(self.cut_while(|c| c != '\''));
            if self.rest.is_empty() {
                return Err(Fault::OpenText);
            }
            self.cut(1);
            if !self.rest.starts_with('\'') {
                return Ok(Lexeme::Text(text));
            }
            text.push_str(self.cut(1));
        }
    }
}
