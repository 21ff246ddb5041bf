// rmw/init_options.h and rmw/init.h
#include "groups.h"
#include "world.h"

static void options_are_initialized_once(void)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_init_options_t options = rmw_get_zero_initialized_init_options();
  // rmw_init_options_init: INVALID_ARGUMENT "if any arguments are invalid"; "must be zero initialized".
  IS_NULL(rmw_init_options_init(NULL, allocator));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_init_options_init(&options, rcutils_get_zero_initialized_allocator()));
  CHECK(options.implementation_identifier == NULL);
  OK(rmw_init_options_init(&options, allocator));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_init_options_init(&options, allocator));
  CHECK(strcmp(options.implementation_identifier, "rmw_shoal") == 0);
  CHECK(options.domain_id == RMW_DEFAULT_DOMAIN_ID);
  CHECK(options.enclave == NULL);
  OK(rmw_init_options_fini(&options));
  CHECK(options.implementation_identifier == NULL);
}

static void options_are_copied_with_what_they_own(void)
{
  rmw_init_options_t source, copy = rmw_get_zero_initialized_init_options();
  options_open(&source);
  source.domain_id = 7;
  FOREIGN(rmw_init_options_t, foreign, &source);
  rmw_init_options_t zero = rmw_get_zero_initialized_init_options();
  IS_NULL(rmw_init_options_copy(NULL, &copy));
  IS_NULL(rmw_init_options_copy(&source, NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_init_options_copy(&zero, &copy));
  IS_FOREIGN(rmw_init_options_copy(&foreign, &copy));
  // BAD_ALLOC "if allocating memory failed".
  rmw_init_options_t poor = source;
  poor.allocator = empty_allocator();
  FAILS(RMW_RET_BAD_ALLOC, rmw_init_options_copy(&poor, &copy));
  OK(rmw_init_options_copy(&source, &copy));
  CHECK(copy.domain_id == 7);
  CHECK(copy.enclave != source.enclave && strcmp(copy.enclave, "/") == 0);
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_init_options_copy(&source, &copy));
  OK(rmw_init_options_fini(&copy));
  OK(rmw_init_options_fini(&source));
  IS_NULL(rmw_init_options_fini(NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_init_options_fini(&zero));
  IS_FOREIGN(rmw_init_options_fini(&foreign));
}

static void a_context_wants_options_that_are_ready(void)
{
  rmw_init_options_t options, zero = rmw_get_zero_initialized_init_options();
  rmw_context_t context = rmw_get_zero_initialized_context();
  options_open(&options);
  FOREIGN(rmw_init_options_t, foreign, &options);
  IS_NULL(rmw_init(NULL, &context));
  IS_NULL(rmw_init(&options, NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_init(&zero, &context));
  IS_FOREIGN(rmw_init(&foreign, &context));
  rmw_init_options_t nowhere = options;
  nowhere.enclave = NULL;
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_init(&nowhere, &context));
  rmw_init_options_t lost = options;
  lost.discovery_options.automatic_discovery_range = (rmw_automatic_discovery_range_t)77;
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_init(&lost, &context));
  // This middleware does not encrypt, so it does not pretend to.
  rmw_init_options_t secret = options;
  secret.security_options.enforce_security = RMW_SECURITY_ENFORCEMENT_ENFORCE;
  FAILS(RMW_RET_ERROR, rmw_init(&secret, &context));
  CHECK(context.implementation_identifier == NULL);
  OK(rmw_init_options_fini(&options));
}

static void a_context_is_shut_down_and_then_finalized(void)
{
  rmw_init_options_t options;
  options_open(&options);
  rmw_context_t context = rmw_get_zero_initialized_context(), zero = context;
  OK(rmw_init(&options, &context));
  // "The given context must be zero initialized."
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_init(&options, &context));
  CHECK(strcmp(context.implementation_identifier, "rmw_shoal") == 0);
  CHECK(context.instance_id == options.instance_id);
  FOREIGN(rmw_context_t, foreign, &context);
  IS_NULL(rmw_shutdown(NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_shutdown(&zero));
  IS_FOREIGN(rmw_shutdown(&foreign));
  IS_NULL(rmw_context_fini(NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_context_fini(&zero));
  IS_FOREIGN(rmw_context_fini(&foreign));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_context_fini(&context));
  OK(rmw_shutdown(&context));
  // What is shut down makes nothing more.
  NOT_MADE(rmw_create_node(&context, "late", "/"));
  NOT_MADE(rmw_create_guard_condition(&context));
  OK(rmw_context_fini(&context));
  CHECK(context.implementation_identifier == NULL && context.impl == NULL);
  OK(rmw_init(&options, &context));
  OK(rmw_shutdown(&context));
  OK(rmw_context_fini(&context));
  OK(rmw_init_options_fini(&options));
}

// The domain of the options, and nobody at all with the range OFF.
static size_t nodes_seen(size_t domain, rmw_automatic_discovery_range_t range)
{
  rmw_init_options_t options;
  options_open(&options);
  options.domain_id = domain;
  options.discovery_options.automatic_discovery_range = range;
  rmw_context_t context = rmw_get_zero_initialized_context();
  OK(rmw_init(&options, &context));
  CHECK(context.actual_domain_id == domain);
  rmw_node_t * node = rmw_create_node(&context, "seer", "/");
  MADE(node);
  rcutils_string_array_t names = rcutils_get_zero_initialized_string_array(), spaces = names;
  OK(rmw_get_node_names(node, &names, &spaces));
  size_t seen = names.size;
  CHECK(rcutils_string_array_fini(&names) == RCUTILS_RET_OK);
  CHECK(rcutils_string_array_fini(&spaces) == RCUTILS_RET_OK);
  OK(rmw_destroy_node(node));
  OK(rmw_shutdown(&context));
  OK(rmw_context_fini(&context));
  OK(rmw_init_options_fini(&options));
  return seen;
}

static void domains_share_nothing(void)
{
  world_t world;
  world_open(&world, "resident");
  size_t own = world.context.actual_domain_id;
  CHECK(nodes_seen(own, RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST) == 2);
  CHECK(nodes_seen(own, RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET) == 2);
  CHECK(nodes_seen(own, RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT) == 2);
  CHECK(nodes_seen(own, RMW_AUTOMATIC_DISCOVERY_RANGE_OFF) == 1);
  CHECK(nodes_seen(own + 1, RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST) == 1);
  world_close(&world);
}

void group_init(void)
{
  options_are_initialized_once();
  options_are_copied_with_what_they_own();
  a_context_wants_options_that_are_ready();
  a_context_is_shut_down_and_then_finalized();
  domains_share_nothing();
}
