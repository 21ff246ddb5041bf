//! rmw/rmw.h, rmw/get_topic_names_and_types.h, rmw/get_service_names_and_types.h: who and what is there.

use shoal_rmw::graph;

use crate::boundary::{exports, Failure, In, InOut};
use crate::strings::{allocator, check_empty, check_no_names, default_allocator, names_and_types, string_array};
use crate::sys;

exports! {
    /// Names and namespaces of all nodes.
    fn rmw_get_node_names(
        node: *const sys::rmw_node_t,
        node_names: *mut sys::rcutils_string_array_t,
        node_namespaces: *mut sys::rcutils_string_array_t,
    ) -> sys::rmw_ret_t = |node, names, namespaces| list_nodes(node, names, namespaces, None);
    /// Names, namespaces and enclaves of all nodes.
    fn rmw_get_node_names_with_enclaves(
        node: *const sys::rmw_node_t,
        node_names: *mut sys::rcutils_string_array_t,
        node_namespaces: *mut sys::rcutils_string_array_t,
        enclaves: *mut sys::rcutils_string_array_t,
    ) -> sys::rmw_ret_t = |node, names, namespaces, enclaves| list_nodes(node, names, namespaces, Some(enclaves));
    /// Topics, each with the types used under it.
    fn rmw_get_topic_names_and_types(
        node: *const sys::rmw_node_t,
        allocator: *mut sys::rcutils_allocator_t,
        no_demangle: bool,
        topic_names_and_types: *mut sys::rmw_names_and_types_t,
    ) -> sys::rmw_ret_t = topics;
    /// Services, each with the types used under it.
    fn rmw_get_service_names_and_types(
        node: *const sys::rmw_node_t,
        allocator: *mut sys::rcutils_allocator_t,
        service_names_and_types: *mut sys::rmw_names_and_types_t,
    ) -> sys::rmw_ret_t = services;
}

fn list_nodes(
    node: In<sys::rmw_node_t>,
    names: InOut<sys::rcutils_string_array_t>,
    namespaces: InOut<sys::rcutils_string_array_t>,
    enclaves: Option<InOut<sys::rcutils_string_array_t>>,
) -> Result<(), Failure> {
    let node = node.handle()?;
    for array in [Some(names), Some(namespaces), enclaves].into_iter().flatten() {
        check_empty(array)?;
    }
    let nodes = graph::node_names(node.node.context())?;
    let mut columns = vec![
        (names, nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>()),
        (namespaces, nodes.iter().map(|node| node.namespace.as_str()).collect()),
    ];
    if let Some(array) = enclaves {
        columns.push((array, nodes.iter().map(|node| node.enclave.as_str()).collect()));
    }
    write_columns(&columns)
}

/// Writes all arrays or none.
fn write_columns(columns: &[(InOut<sys::rcutils_string_array_t>, Vec<&str>)]) -> Result<(), Failure> {
    let allocator = default_allocator();
    for (index, (array, column)) in columns.iter().enumerate() {
        match string_array(column, &allocator) {
            Ok(built) => array.write(built)?,
            Err(failure) => {
                columns[..index].iter().for_each(|(written, _)| take_back(*written));
                return Err(failure);
            }
        }
    }
    Ok(())
}

fn take_back(array: InOut<sys::rcutils_string_array_t>) {
    if let Ok(written) = array.pointer() {
        // SAFETY: initialized by `string_array` just now; finalizing leaves it zero-initialized. It cannot fail then.
        let _ = unsafe { sys::rcutils_string_array_fini(written) };
    }
}

fn topics(
    node: In<sys::rmw_node_t>,
    memory: InOut<sys::rcutils_allocator_t>,
    _no_demangle: bool,
    out: InOut<sys::rmw_names_and_types_t>,
) -> Result<(), Failure> {
    let node = node.handle()?;
    let memory = allocator(memory)?;
    check_no_names(out)?;
    out.write(names_and_types(&graph::topic_names_and_types(node.node.context())?, &memory)?)
}

fn services(
    node: In<sys::rmw_node_t>,
    memory: InOut<sys::rcutils_allocator_t>,
    out: InOut<sys::rmw_names_and_types_t>,
) -> Result<(), Failure> {
    let node = node.handle()?;
    let memory = allocator(memory)?;
    check_no_names(out)?;
    out.write(names_and_types(&graph::service_names_and_types(node.node.context())?, &memory)?)
}
