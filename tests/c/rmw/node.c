// rmw/rmw.h: nodes, and the guard condition of the graph.
#include "groups.h"
#include "world.h"

static void a_node_wants_names_and_a_context(rmw_context_t * context)
{
  // rmw_create_node: NULL "if name is not a valid non-null node name", likewise the namespace and the context.
  rmw_context_t zero = rmw_get_zero_initialized_context();
  FOREIGN(rmw_context_t, foreign, context);
  NOT_MADE(rmw_create_node(NULL, "a", "/"));
  NOT_MADE(rmw_create_node(&zero, "a", "/"));
  NOT_MADE(rmw_create_node(&foreign, "a", "/"));
  NOT_MADE(rmw_create_node(context, NULL, "/"));
  NOT_MADE(rmw_create_node(context, "a", NULL));
  const char * const bad_names[] = {"", "1a", "a/b", "a b", "\xff"};
  for (size_t i = 0; i < sizeof(bad_names) / sizeof(*bad_names); i++) {
    NOT_MADE(rmw_create_node(context, bad_names[i], "/"));
  }
  const char * const bad_spaces[] = {"", "a", "/a/", "/1", "//a"};
  for (size_t i = 0; i < sizeof(bad_spaces) / sizeof(*bad_spaces); i++) {
    NOT_MADE(rmw_create_node(context, "a", bad_spaces[i]));
  }
}

static void a_node_knows_what_it_is(rmw_context_t * context)
{
  char longest[256];
  memset(longest, 'n', 255);
  longest[255] = 0;
  rmw_node_t * node = rmw_create_node(context, longest, "/deep/in/there");
  MADE(node);
  CHECK(strcmp(node->name, longest) == 0);
  CHECK(strcmp(node->namespace_, "/deep/in/there") == 0);
  CHECK(node->context == context);
  CHECK(strcmp(node->implementation_identifier, rmw_get_implementation_identifier()) == 0);
  rmw_node_t * twin = rmw_create_node(context, longest, "/deep/in/there");
  MADE(twin);
  // rmw_destroy_node: INVALID_ARGUMENT, INCORRECT_RMW_IMPLEMENTATION.
  FOREIGN(rmw_node_t, foreign, node);
  IS_NULL(rmw_destroy_node(NULL));
  IS_FOREIGN(rmw_destroy_node(&foreign));
  OK(rmw_destroy_node(twin));
  OK(rmw_destroy_node(node));
}

static void the_graph_guard_tells_of_changes(world_t * world)
{
  FOREIGN(rmw_node_t, foreign, world->node);
  NOT_MADE(rmw_node_get_graph_guard_condition(NULL));
  NOT_MADE(rmw_node_get_graph_guard_condition(&foreign));
  const rmw_guard_condition_t * guard = rmw_node_get_graph_guard_condition(world->node);
  MADE(guard);
  CHECK(rmw_node_get_graph_guard_condition(world->node) == guard);
  // What the node's own arrival set.
  while (wait_guard(world, guard, NOW)) {
  }
  world_t other;
  world_open(&other, "other");
  CHECK(wait_guard(world, guard, LONG));
  world_close(&other);
  CHECK(wait_guard(world, guard, LONG));
  while (wait_guard(world, guard, NOW)) {
  }
  CHECK(!wait_guard(world, guard, NOW));
}

void group_node(void)
{
  world_t world;
  world_open(&world, "tester");
  a_node_wants_names_and_a_context(&world.context);
  a_node_knows_what_it_is(&world.context);
  the_graph_guard_tells_of_changes(&world);
  world_close(&world);
}
