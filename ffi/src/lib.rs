//! The RMW plugin librmw_shoal.so: the C ABI of rmw_shoal.
