//! Tokens → expression: recursive descent, one function per level of the grammar.

use super::ast::{Comparison, Expression, Literal, Operand, Path, Place, Predicate, Segment, Test};
use super::error::{Fault, FilterError};
use super::lexer::{tokens, Lexeme, Spot};

/// Parentheses and NOTs within each other: bounds the stack.
const MAX_DEPTH: usize = 64;

type Parsed<T> = Result<T, FilterError>;

pub(super) fn parse(expression: &str) -> Parsed<Expression> {
    let mut parser = Parser { tokens: tokens(expression)?, at: 0, depth: 0 };
    let whole = parser.any_of()?;
    match parser.peek() {
        Lexeme::End => Ok(whole),
        _ => Err(parser.expected("AND, OR or the end")),
    }
}

/// A parameter's value: one literal and nothing else.
pub(super) fn parse_literal(text: &str) -> Option<Literal> {
    let mut parser = Parser { tokens: tokens(text).ok()?, at: 0, depth: 0 };
    match (parser.operand().ok()?, parser.peek()) {
        (Operand::Literal(literal, _), Lexeme::End) => Some(literal),
        _ => None,
    }
}

struct Parser {
    /// Ends with `End`, which is never passed.
    tokens: Vec<Spot>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Lexeme {
        &self.tokens[self.at].lexeme
    }

    fn place(&self) -> Place {
        self.tokens[self.at].place.clone()
    }

    fn advance(&mut self) -> Spot {
        let spot = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        spot
    }

    fn expected(&self, what: &'static str) -> FilterError {
        self.place().fault(Fault::Expected(what))
    }

    fn is_keyword(&self, keyword: &str) -> bool {
        matches!(self.peek(), Lexeme::Name(name) if name.eq_ignore_ascii_case(keyword))
    }

    fn take_keyword(&mut self, keyword: &str) -> bool {
        let found = self.is_keyword(keyword);
        if found {
            self.advance();
        }
        found
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Lexeme::Symbol(found) if *found == symbol);
        if found {
            self.advance();
        }
        found
    }

    fn any_of(&mut self) -> Parsed<Expression> {
        let mut parts = vec![self.all_of()?];
        while self.take_keyword("OR") {
            parts.push(self.all_of()?);
        }
        Ok(one_or(parts, Expression::Or))
    }

    fn all_of(&mut self) -> Parsed<Expression> {
        let mut parts = vec![self.condition()?];
        while self.take_keyword("AND") {
            parts.push(self.condition()?);
        }
        Ok(one_or(parts, Expression::And))
    }

    fn condition(&mut self) -> Parsed<Expression> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.place().fault(Fault::TooDeep(MAX_DEPTH)));
        }
        let condition = if self.take_keyword("NOT") {
            Expression::Not(Box::new(self.condition()?))
        } else if self.take_symbol("(") {
            let inner = self.any_of()?;
            if !self.take_symbol(")") {
                return Err(self.expected("AND, OR or a closing parenthesis"));
            }
            inner
        } else {
            Expression::Predicate(Box::new(self.predicate()?))
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn predicate(&mut self) -> Parsed<Predicate> {
        let left = self.operand()?;
        let place = self.place();
        if let Some(comparison) = self.comparison() {
            let test = Test::Compare(comparison, self.operand()?);
            return Ok(Predicate { left, negated: false, test, place });
        }
        let negated = self.take_keyword("NOT");
        let test = if self.take_keyword("BETWEEN") {
            self.range()?
        } else if self.take_keyword("LIKE") {
            Test::Like(self.operand()?)
        } else if self.take_keyword("IN") {
            self.list()?
        } else if negated {
            return Err(self.expected("BETWEEN, LIKE or IN"));
        } else {
            return Err(self.expected("a comparison (= <> != < <= > >=), BETWEEN, LIKE or IN"));
        };
        Ok(Predicate { left, negated, test, place })
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let Lexeme::Symbol(symbol) = *self.peek() else { return None };
        let comparison = match symbol {
            "=" => Comparison::Equal,
            "<>" | "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return None,
        };
        self.advance();
        Some(comparison)
    }

    fn range(&mut self) -> Parsed<Test> {
        let low = self.operand()?;
        if !self.take_keyword("AND") {
            return Err(self.expected("AND and the upper end of the range"));
        }
        Ok(Test::Between(low, self.operand()?))
    }

    fn list(&mut self) -> Parsed<Test> {
        if !self.take_symbol("(") {
            return Err(self.expected("an opening parenthesis"));
        }
        let mut members = vec![self.operand()?];
        while self.take_symbol(",") {
            members.push(self.operand()?);
        }
        match self.take_symbol(")") {
            true => Ok(Test::In(members)),
            false => Err(self.expected("a comma or a closing parenthesis")),
        }
    }

    fn operand(&mut self) -> Parsed<Operand> {
        let place = self.place();
        let literal = match self.peek().clone() {
            Lexeme::Integer(value) => Literal::Integer(value),
            Lexeme::Float(value) => Literal::Float(value),
            Lexeme::Text(text) => Literal::Text(text),
            Lexeme::Parameter(index) => {
                self.advance();
                return Ok(Operand::Parameter(index, place));
            }
            Lexeme::Name(name) if name.eq_ignore_ascii_case("TRUE") => Literal::Bool(true),
            Lexeme::Name(name) if name.eq_ignore_ascii_case("FALSE") => Literal::Bool(false),
            Lexeme::Name(_) => return Ok(Operand::Field(self.path()?)),
            Lexeme::Symbol(_) | Lexeme::End => return Err(self.expected("a field, a literal or a parameter")),
        };
        self.advance();
        Ok(Operand::Literal(literal, place))
    }

    fn path(&mut self) -> Parsed<Path> {
        let mut segments = vec![self.segment()?];
        while self.take_symbol(".") {
            segments.push(self.segment()?);
        }
        Ok(Path(segments))
    }

    fn segment(&mut self) -> Parsed<Segment> {
        let Lexeme::Name(name) = self.peek().clone() else { return Err(self.expected("the name of a field")) };
        let place = self.advance().place;
        let index = self.take_symbol("[").then(|| self.index()).transpose()?;
        Ok(Segment { name, index, place })
    }

    fn index(&mut self) -> Parsed<usize> {
        let Lexeme::Integer(index) = *self.peek() else { return Err(self.expected("an index, from 0")) };
        let index = usize::try_from(index).map_err(|_| self.expected("an index, from 0"))?;
        self.advance();
        match self.take_symbol("]") {
            true => Ok(index),
            false => Err(self.expected("a closing bracket")),
        }
    }
}

fn one_or(mut parts: Vec<Expression>, many: impl FnOnce(Vec<Expression>) -> Expression) -> Expression {
    match parts.len() {
        1 => parts.remove(0),
        _ => many(parts),
    }
}
