//! Expression → condition: names are found, parameters filled in, types checked, constants brought to the field's type.

use super::ast::{Expression, Literal, Operand, Path, Place, Predicate, Test as Written};
use super::error::{Fault, FilterError};
use super::evaluate::{Condition, Term, Test};
use super::parser::parse_literal;
use super::pattern::Pattern;
use super::value::{Type, Value};
use super::Schema;

/// Values an expression may be given.
const MAX_PARAMETERS: usize = 100;

pub(super) fn compile<S: Schema>(
    expression: &Expression,
    parameters: &[&str],
    schema: &S,
) -> Result<Condition<S::Field>, FilterError> {
    let compiler = Compiler { parameters, schema };
    if parameters.len() > MAX_PARAMETERS {
        let place = first_place(expression);
        return Err(place.fault(Fault::TooManyParameters(parameters.len())));
    }
    compiler.condition(expression)
}

fn first_place(expression: &Expression) -> &Place {
    match expression {
        Expression::Or(parts) | Expression::And(parts) => first_place(&parts[0]),
        Expression::Not(part) => first_place(part),
        Expression::Predicate(predicate) => predicate.left.place().unwrap_or(&predicate.place),
    }
}

struct Compiler<'a, S> {
    parameters: &'a [&'a str],
    schema: &'a S,
}

/// An operand with its type, before the other side has had its say.
enum Typed<F> {
    Field(F, Type),
    Constant(Literal),
}

impl<F> Typed<F> {
    fn of(&self) -> Type {
        match self {
            Self::Field(_, found) => *found,
            Self::Constant(Literal::Bool(_)) => Type::Bool,
            Self::Constant(Literal::Integer(_)) => Type::Integer,
            Self::Constant(Literal::Float(_)) => Type::Float64,
            Self::Constant(Literal::Text(_)) => Type::Text,
        }
    }

    fn is_field(&self) -> bool {
        matches!(self, Self::Field(..))
    }

    /// The term for a comparison with a value of type `other`, at `place`.
    fn beside(self, other: Type, place: &Place) -> Result<Term<F>, FilterError> {
        let literal = match self {
            Self::Field(field, _) => return Ok(Term::Field(field)),
            Self::Constant(literal) => literal,
        };
        let value = match (literal, other) {
            (Literal::Bool(value), _) => Value::Bool(value),
            (Literal::Integer(value), Type::Float32) => Value::Float32(value as f32),
            (Literal::Integer(value), _) => Value::Integer(value),
            (Literal::Float(value), Type::Float32) => Value::Float32(value as f32),
            (Literal::Float(value), _) => Value::Float64(value),
            (Literal::Text(text), Type::Character(most)) => {
                let code = only_character(&text).filter(|code| *code <= most);
                Value::Integer(code.ok_or_else(|| place.fault(Fault::OneCharacter))?.into())
            }
            (Literal::Text(text), _) => Value::Text(text.into_bytes().into()),
        };
        Ok(Term::Constant(value))
    }
}

/// The left side of a predicate and what it is compared with.
type Sides<F> = (Term<F>, Vec<Term<F>>);

fn only_character(text: &str) -> Option<u32> {
    let mut characters = text.chars();
    let first = characters.next()?;
    characters.next().is_none().then_some(first.into())
}

impl<S: Schema> Compiler<'_, S> {
    fn condition(&self, expression: &Expression) -> Result<Condition<S::Field>, FilterError> {
        let all = |parts: &[Expression]| parts.iter().map(|part| self.condition(part)).collect::<Result<Vec<_>, _>>();
        Ok(match expression {
            Expression::Or(parts) => Condition::Or(all(parts)?),
            Expression::And(parts) => Condition::And(all(parts)?),
            Expression::Not(part) => Condition::Not(Box::new(self.condition(part)?)),
            Expression::Predicate(predicate) => self.predicate(predicate)?,
        })
    }

    fn predicate(&self, written: &Predicate) -> Result<Condition<S::Field>, FilterError> {
        let left = self.operand(&written.left)?;
        let negated = written.negated;
        if let Written::Like(pattern) = &written.test {
            let found = left.of();
            let Typed::Field(field, Type::Text) = left else { return Err(written.place.fault(Fault::LikeOf(found))) };
            let test = Test::Like(self.pattern(pattern, &written.place)?);
            return Ok(Condition::Predicate { left: Term::Field(field), negated, test });
        }
        let others: Vec<&Operand> = match &written.test {
            Written::Compare(_, right) => vec![right],
            Written::Between(low, high) => vec![low, high],
            Written::In(members) => members.iter().collect(),
            Written::Like(_) => Vec::new(),
        };
        let (left, mut right) = self.sides(written, left, &others)?;
        let mut next = || right.pop().ok_or_else(|| written.place.fault(Fault::NoField));
        let test = match &written.test {
            Written::Compare(comparison, _) => Test::Compare(*comparison, next()?),
            Written::Between(..) => {
                let high = next()?;
                Test::Between(next()?, high)
            }
            Written::In(_) | Written::Like(_) => Test::In(right),
        };
        Ok(Condition::Predicate { left, negated, test })
    }

    /// Both sides of a predicate as terms, checked against each other.
    fn sides(
        &self,
        written: &Predicate,
        left: Typed<S::Field>,
        others: &[&Operand],
    ) -> Result<Sides<S::Field>, FilterError> {
        let left_type = left.of();
        let mut right = Vec::with_capacity(others.len());
        let mut beside_left = left_type;
        for operand in others {
            let place = operand.place().unwrap_or(&written.place);
            let other = self.operand(operand)?;
            let other_type = other.of();
            let turned = other.is_field() && matches!(written.test, Written::Compare(..));
            if !(left.is_field() || turned) {
                let begin = written.left.place().unwrap_or(&written.place);
                return Err(begin.fault(Fault::NoField));
            }
            if !left_type.compares_with(other_type) && !spells_character(&left, &other) {
                return Err(place.fault(Fault::Types(left_type, other_type)));
            }
            beside_left = other_type;
            right.push(other.beside(left_type, place)?);
        }
        let place = written.left.place().unwrap_or(&written.place);
        Ok((left.beside(beside_left, place)?, right))
    }

    fn pattern(&self, written: &Operand, operator: &Place) -> Result<Pattern, FilterError> {
        let place = written.place().unwrap_or(operator);
        match self.operand(written)? {
            Typed::Constant(Literal::Text(text)) => Ok(Pattern::new(&text)),
            _ => Err(place.fault(Fault::Pattern)),
        }
    }

    fn operand(&self, operand: &Operand) -> Result<Typed<S::Field>, FilterError> {
        match operand {
            Operand::Field(path) => self.field(path),
            Operand::Literal(literal, _) => Ok(Typed::Constant(literal.clone())),
            Operand::Parameter(index, place) => {
                let given = self.parameters.len();
                let text = self.parameters.get(*index).ok_or_else(|| place.fault(Fault::ParameterMissing { given }))?;
                let literal = parse_literal(text).ok_or_else(|| place.fault(Fault::ParameterValue((*text).into())))?;
                Ok(Typed::Constant(literal))
            }
        }
    }

    fn field(&self, path: &Path) -> Result<Typed<S::Field>, FilterError> {
        let resolved = self.schema.resolve(path);
        let (field, found) = resolved.map_err(|unresolved| {
            let segment = path.0.get(unresolved.segment).unwrap_or(&path.0[0]);
            segment.place.fault(Fault::Field(unresolved.why))
        })?;
        Ok(Typed::Field(field, found))
    }
}

/// Whether one side is a character field and the other a text.
fn spells_character<F>(left: &Typed<F>, right: &Typed<F>) -> bool {
    let spells = |field: &Typed<F>, text: &Typed<F>| {
        matches!(field, Typed::Field(_, Type::Character(_))) && matches!(text, Typed::Constant(Literal::Text(_)))
    };
    spells(left, right) || spells(right, left)
}
