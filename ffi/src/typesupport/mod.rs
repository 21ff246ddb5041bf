//! Message and service types: from a rosidl type support to a compiled plan.
