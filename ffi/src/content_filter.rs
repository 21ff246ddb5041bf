//! Content filters between C options, message types and `shoal_rmw`.

use std::ffi::c_char;
use std::sync::Arc;

use parking_lot::Mutex;
use shoal_rmw::filter::{Filter, SampleFilter};
use shoal_rmw::Incoming;

use crate::boundary::{Failure, In, InOut};
use crate::names::to_c;
use crate::sys;
use crate::typesupport::{Field, MessageType, Scratch};

type Options = sys::rmw_subscription_content_filter_options_t;

/// A filter as the user wrote it.
#[derive(Clone, Debug)]
pub struct Condition {
    expression: String,
    parameters: Vec<String>,
}

impl Condition {
    /// What the options say; `None` for an empty expression, which means no filter.
    pub fn read(options: In<'_, Options>) -> Result<Option<Condition>, Failure> {
        let given = options.get()?;
        // SAFETY: a string of the caller for the duration of the call, or NULL, which is refused.
        let expression = unsafe { In::from_raw(given.filter_expression.cast_const(), "filter_expression") }.text()?;
        if expression.is_empty() {
            return Ok(None);
        }
        let array = &given.expression_parameters;
        if array.data.is_null() && array.size > 0 {
            return Err(Failure::invalid(format!("expression_parameters is NULL, but its size is {}", array.size)));
        }
        let parameters = (0..array.size).map(|index| {
            // SAFETY: the array says how many strings it has; each is one of the caller's, or NULL, which is refused.
            let parameter: In<'_, c_char> = unsafe { In::from_raw(*array.data.add(index), "expression_parameters") };
            parameter.text().map(str::to_owned)
        });
        let parameters = parameters.collect::<Result<_, _>>()?;
        Ok(Some(Condition { expression: expression.to_owned(), parameters }))
    }

    /// Compiles it for messages of this type. An error names the place in the expression.
    pub fn compile(&self, message: &Arc<MessageType>) -> Result<Arc<dyn SampleFilter>, Failure> {
        let filter = Filter::compile(&self.expression, &self.parameters, &**message)
            .map_err(|e| Failure::error(format!("{e}; the expression is: {}", self.expression)))?;
        let scratch = Scratch::new(message).map_err(|e| Failure::bad_alloc(e.to_string()))?;
        Ok(Arc::new(ContentFilter { filter, scratch: Mutex::new(scratch) }))
    }
}

/// Gives a condition to C, in the caller's allocator.
pub fn write(
    condition: &Condition,
    allocator: &sys::rcutils_allocator_t,
    options: InOut<'_, Options>,
) -> Result<(), Failure> {
    let expression = to_c(&condition.expression)?;
    let parameters = condition.parameters.iter().map(|text| to_c(text)).collect::<Result<Vec<_>, _>>()?;
    let mut pointers: Vec<*const c_char> = parameters.iter().map(|text| text.as_ptr()).collect();
    // SAFETY: returns a struct by value.
    options.write(unsafe { sys::rmw_get_zero_initialized_content_filter_options() })?;
    let (count, first) = (pointers.len(), pointers.as_mut_ptr());
    // SAFETY: NUL-terminated strings and a valid allocator that live across the call, which copies; the options are
    // zero-initialized.
    let code = unsafe {
        sys::rmw_subscription_content_filter_options_init(
            expression.as_ptr(),
            count,
            first,
            allocator,
            options.pointer()?,
        )
    };
    match code {
        sys::RMW_RET_OK => Ok(()),
        code => Err(Failure::of_library(code, "rmw_subscription_content_filter_options_init")),
    }
}

/// A compiled filter and a message to read samples into.
#[derive(Debug)]
struct ContentFilter {
    filter: Filter<Field>,
    scratch: Mutex<Scratch>,
}

impl SampleFilter for ContentFilter {
    fn accepts(&self, sample: Incoming) -> bool {
        let scratch = &mut *self.scratch.lock();
        match scratch.fill(sample) {
            Ok(()) => self.filter.accepts(scratch),
            // Whoever takes it is told what is wrong with it.
            Err(_) => true,
        }
    }
}
