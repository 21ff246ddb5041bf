// rmw/rmw.h, rmw/get_*.h: who is there, seen from another context.
#include "groups.h"
#include "world.h"

// The context that looks, and one with everything in it: node /robot/worker has a publisher and a subscription of
// /text, a service and a client of /switch.
typedef struct scene
{
  world_t seer, busy;
  rmw_publisher_t * publisher;
  rmw_subscription_t * subscription;
  rmw_service_t * service;
  rmw_client_t * client;
} scene_t;

static void scene_open(scene_t * scene)
{
  world_open(&scene->seer, "seer");
  world_open(&scene->busy, "unused");
  OK(rmw_destroy_node(scene->busy.node));
  scene->busy.node = rmw_create_node(&scene->busy.context, "worker", "/robot");
  MADE(scene->busy.node);
  scene->publisher = publish_on(&scene->busy, TEXT, "/text", latched());
  scene->subscription = subscribe_to(&scene->busy, TEXT, "/text", plain());
  scene->service = serve(&scene->busy, "/switch");
  scene->client = client_of(&scene->busy, "/switch");
}

static void scene_close(scene_t * scene)
{
  OK(rmw_destroy_client(scene->busy.node, scene->client));
  OK(rmw_destroy_service(scene->busy.node, scene->service));
  OK(rmw_destroy_subscription(scene->busy.node, scene->subscription));
  OK(rmw_destroy_publisher(scene->busy.node, scene->publisher));
  world_close(&scene->busy);
  world_close(&scene->seer);
}

static void free_strings(rcutils_string_array_t * array)
{
  CHECK(rcutils_string_array_fini(array) == RCUTILS_RET_OK);
  *array = rcutils_get_zero_initialized_string_array();
}

static bool holds(const rcutils_string_array_t * array, const char * text)
{
  for (size_t i = 0; i < array->size; i++) {
    if (strcmp(array->data[i], text) == 0) {
      return true;
    }
  }
  return false;
}

static void nodes_are_listed(const rmw_node_t * node)
{
  FOREIGN(rmw_node_t, foreign, node);
  rcutils_string_array_t names = rcutils_get_zero_initialized_string_array(), spaces = names, enclaves = names;
  IS_NULL(rmw_get_node_names(NULL, &names, &spaces));
  IS_NULL(rmw_get_node_names(node, NULL, &spaces));
  IS_NULL(rmw_get_node_names(node, &names, NULL));
  IS_FOREIGN(rmw_get_node_names(&foreign, &names, &spaces));
  OK(rmw_get_node_names(node, &names, &spaces));
  CHECK(names.size == 2 && spaces.size == 2);
  CHECK(holds(&names, "seer") && holds(&names, "worker") && holds(&spaces, "/") && holds(&spaces, "/robot"));
  // "is not a zero-initialized array", for each of them.
  rcutils_string_array_t empty = rcutils_get_zero_initialized_string_array();
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_get_node_names(node, &names, &empty));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_get_node_names(node, &empty, &names));
  IS_NULL(rmw_get_node_names_with_enclaves(NULL, &empty, &empty, &enclaves));
  IS_NULL(rmw_get_node_names_with_enclaves(node, NULL, &empty, &enclaves));
  IS_NULL(rmw_get_node_names_with_enclaves(node, &empty, NULL, &enclaves));
  IS_NULL(rmw_get_node_names_with_enclaves(node, &empty, &empty, NULL));
  IS_FOREIGN(rmw_get_node_names_with_enclaves(&foreign, &empty, &empty, &enclaves));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_get_node_names_with_enclaves(node, &names, &empty, &enclaves));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_get_node_names_with_enclaves(node, &empty, &names, &enclaves));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_get_node_names_with_enclaves(node, &enclaves, &empty, &names));
  free_strings(&names);
  free_strings(&spaces);
  OK(rmw_get_node_names_with_enclaves(node, &names, &spaces, &enclaves));
  CHECK(names.size == 2 && enclaves.size == 2 && strcmp(enclaves.data[0], "/") == 0);
  free_strings(&names);
  free_strings(&spaces);
  free_strings(&enclaves);
}

// One name with one type, and gone again.
static void is_only(rmw_names_and_types_t * found, const char * name, const char * type)
{
  CHECK(found->names.size == 1 && strcmp(found->names.data[0], name) == 0);
  CHECK(found->types[0].size == 1 && strcmp(found->types[0].data[0], type) == 0);
  OK(rmw_names_and_types_fini(found));
}

#define SERVICE_TYPE "std_srvs/srv/SetBool"

static void names_and_types_are_listed(const rmw_node_t * node)
{
  FOREIGN(rmw_node_t, foreign, node);
  rcutils_allocator_t allocator = rcutils_get_default_allocator(), invalid = rcutils_get_zero_initialized_allocator();
  rcutils_allocator_t empty = empty_allocator();
  rmw_names_and_types_t found = rmw_get_zero_initialized_names_and_types();
  IS_NULL(rmw_get_topic_names_and_types(NULL, &allocator, false, &found));
  IS_NULL(rmw_get_topic_names_and_types(node, NULL, false, &found));
  IS_NULL(rmw_get_topic_names_and_types(node, &allocator, false, NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_get_topic_names_and_types(node, &invalid, false, &found));
  FAILS(RMW_RET_BAD_ALLOC, rmw_get_topic_names_and_types(node, &empty, false, &found));
  IS_FOREIGN(rmw_get_topic_names_and_types(&foreign, &allocator, false, &found));
  OK(rmw_get_topic_names_and_types(node, &allocator, true, &found));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_get_topic_names_and_types(node, &allocator, false, &found));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_get_service_names_and_types(node, &allocator, &found));
  is_only(&found, "/text", name_of(TEXT));
  IS_NULL(rmw_get_service_names_and_types(NULL, &allocator, &found));
  IS_NULL(rmw_get_service_names_and_types(node, NULL, &found));
  IS_NULL(rmw_get_service_names_and_types(node, &allocator, NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_get_service_names_and_types(node, &invalid, &found));
  FAILS(RMW_RET_BAD_ALLOC, rmw_get_service_names_and_types(node, &empty, &found));
  IS_FOREIGN(rmw_get_service_names_and_types(&foreign, &allocator, &found));
  OK(rmw_get_service_names_and_types(node, &allocator, &found));
  is_only(&found, "/switch", SERVICE_TYPE);
}

// The four queries of a node have the same errors; they differ by no_demangle, which two of them have.
#define OF_NODE(query, name, type, ...) \
  do { \
    FOREIGN(rmw_node_t, foreign, node); \
    rcutils_allocator_t memory = rcutils_get_default_allocator(), empty = empty_allocator(); \
    rcutils_allocator_t invalid = rcutils_get_zero_initialized_allocator(); \
    rmw_names_and_types_t found = rmw_get_zero_initialized_names_and_types(), full = found; \
    IS_NULL(query(NULL, &memory, "worker", "/robot", __VA_ARGS__ &found)); \
    IS_FOREIGN(query(&foreign, &memory, "worker", "/robot", __VA_ARGS__ &found)); \
    IS_NULL(query(node, NULL, "worker", "/robot", __VA_ARGS__ &found)); \
    FAILS(RMW_RET_INVALID_ARGUMENT, query(node, &invalid, "worker", "/robot", __VA_ARGS__ &found)); \
    FAILS(RMW_RET_BAD_ALLOC, query(node, &empty, "worker", "/robot", __VA_ARGS__ &found)); \
    IS_NULL(query(node, &memory, NULL, "/robot", __VA_ARGS__ &found)); \
    FAILS(RMW_RET_INVALID_ARGUMENT, query(node, &memory, "no good", "/robot", __VA_ARGS__ &found)); \
    IS_NULL(query(node, &memory, "worker", NULL, __VA_ARGS__ &found)); \
    FAILS(RMW_RET_INVALID_ARGUMENT, query(node, &memory, "worker", "robot", __VA_ARGS__ &found)); \
    IS_NULL(query(node, &memory, "worker", "/robot", __VA_ARGS__ NULL)); \
    FAILS(RMW_RET_NODE_NAME_NON_EXISTENT, query(node, &memory, "idler", "/robot", __VA_ARGS__ &found)); \
    OK(query(node, &memory, "worker", "/robot", __VA_ARGS__ &full)); \
    FAILS(RMW_RET_INVALID_ARGUMENT, query(node, &memory, "worker", "/robot", __VA_ARGS__ &full)); \
    is_only(&full, name, type); \
    OK(query(node, &memory, "seer", "/", __VA_ARGS__ &found)); \
    CHECK(found.names.size == 0); \
  } while (0)

#define DEMANGLED false,
#define NOTHING

static void a_nodes_own_are_listed(const rmw_node_t * node)
{
  OF_NODE(rmw_get_publisher_names_and_types_by_node, "/text", name_of(TEXT), DEMANGLED);
  OF_NODE(rmw_get_subscriber_names_and_types_by_node, "/text", name_of(TEXT), DEMANGLED);
  OF_NODE(rmw_get_service_names_and_types_by_node, "/switch", SERVICE_TYPE, NOTHING);
  OF_NODE(rmw_get_client_names_and_types_by_node, "/switch", SERVICE_TYPE, NOTHING);
}

#define COUNTED(count_of, name) \
  do { \
    FOREIGN(rmw_node_t, foreign, node); \
    size_t count = 77; \
    IS_NULL(count_of(NULL, name, &count)); \
    IS_NULL(count_of(node, NULL, &count)); \
    IS_NULL(count_of(node, name, NULL)); \
    FAILS(RMW_RET_INVALID_ARGUMENT, count_of(node, "not_full", &count)); \
    IS_FOREIGN(count_of(&foreign, name, &count)); \
    CHECK(count == 77); \
    OK(count_of(node, name, &count)); \
    CHECK(count == 1); \
    OK(count_of(node, "/nothing", &count)); \
    CHECK(count == 0); \
  } while (0)

static void endpoints_are_counted(const rmw_node_t * node)
{
  COUNTED(rmw_count_publishers, "/text");
  COUNTED(rmw_count_subscribers, "/text");
  COUNTED(rmw_count_services, "/switch");
  COUNTED(rmw_count_clients, "/switch");
}

static void is_the_text_endpoint(
  const rmw_topic_endpoint_info_array_t * found, rmw_endpoint_type_t kind, rmw_qos_durability_policy_t durability)
{
  static const uint8_t nobody[RMW_GID_STORAGE_SIZE] = {0};
  CHECK(found->size == 1);
  const rmw_topic_endpoint_info_t * info = &found->info_array[0];
  CHECK(strcmp(info->node_name, "worker") == 0 && strcmp(info->node_namespace, "/robot") == 0);
  CHECK(strcmp(info->topic_type, name_of(TEXT)) == 0);
  const rosidl_type_hash_t * hash = type_of(TEXT)->get_type_hash_func(type_of(TEXT));
  CHECK(memcmp(&info->topic_type_hash, hash, sizeof(*hash)) == 0);
  CHECK(info->endpoint_type == kind);
  CHECK(memcmp(info->endpoint_gid, nobody, sizeof(nobody)) != 0);
  CHECK(info->qos_profile.durability == durability && info->qos_profile.depth == 10);
  CHECK(info->qos_profile.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE);
}

#define OF_TOPIC(query, kind, durability) \
  do { \
    FOREIGN(rmw_node_t, foreign, node); \
    rcutils_allocator_t memory = rcutils_get_default_allocator(), empty = empty_allocator(); \
    rcutils_allocator_t invalid = rcutils_get_zero_initialized_allocator(); \
    rmw_topic_endpoint_info_array_t found = rmw_get_zero_initialized_topic_endpoint_info_array(); \
    IS_NULL(query(NULL, &memory, "/text", false, &found)); \
    IS_FOREIGN(query(&foreign, &memory, "/text", false, &found)); \
    IS_NULL(query(node, NULL, "/text", false, &found)); \
    FAILS(RMW_RET_INVALID_ARGUMENT, query(node, &invalid, "/text", false, &found)); \
    FAILS(RMW_RET_BAD_ALLOC, query(node, &empty, "/text", false, &found)); \
    IS_NULL(query(node, &memory, NULL, false, &found)); \
    IS_NULL(query(node, &memory, "/text", false, NULL)); \
    OK(query(node, &memory, "/nothing", false, &found)); \
    CHECK(found.size == 0); \
    OK(query(node, &memory, "/text", false, &found)); \
    FAILS(RMW_RET_INVALID_ARGUMENT, query(node, &memory, "/text", false, &found)); \
    is_the_text_endpoint(&found, kind, durability); \
    OK(rmw_topic_endpoint_info_array_fini(&found, &memory)); \
  } while (0)

static void endpoints_are_described(const rmw_node_t * node)
{
  OF_TOPIC(
    rmw_get_publishers_info_by_topic, RMW_ENDPOINT_PUBLISHER, RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL);
  OF_TOPIC(rmw_get_subscriptions_info_by_topic, RMW_ENDPOINT_SUBSCRIPTION, RMW_QOS_POLICY_DURABILITY_VOLATILE);
}

void group_graph(void)
{
  scene_t scene;
  scene_open(&scene);
  nodes_are_listed(scene.seer.node);
  names_and_types_are_listed(scene.seer.node);
  a_nodes_own_are_listed(scene.seer.node);
  endpoints_are_counted(scene.seer.node);
  endpoints_are_described(scene.seer.node);
  scene_close(&scene);
}
