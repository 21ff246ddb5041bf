// rmw/features.h, rmw/qos_profiles.h, identities and the log level.
#include <rcutils/logging.h>

#include "groups.h"
#include "world.h"

static void features_are_told(void)
{
  GIVES(rmw_feature_supported(RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER));
  GIVES(rmw_feature_supported(RMW_FEATURE_MESSAGE_INFO_RECEPTION_SEQUENCE_NUMBER));
  GIVES(!rmw_feature_supported(RMW_MIDDLEWARE_SUPPORTS_TYPE_DISCOVERY));
  GIVES(!rmw_feature_supported(RMW_MIDDLEWARE_CAN_TAKE_DYNAMIC_MESSAGE));
}

static void is_compatible(
  rmw_qos_profile_t offered, rmw_qos_profile_t requested, rmw_qos_compatibility_type_t expected, const char * policy)
{
  rmw_qos_compatibility_type_t verdict = RMW_QOS_COMPATIBILITY_OK;
  char reason[2048] = "nothing";
  OK(rmw_qos_profile_check_compatible(offered, requested, &verdict, reason, sizeof(reason)));
  CHECK(verdict == expected);
  CHECK(policy == NULL ? strcmp(reason, "") == 0 : strstr(reason, policy) != NULL);
  // The reason is optional, and cut where the buffer ends.
  OK(rmw_qos_profile_check_compatible(offered, requested, &verdict, NULL, 0));
  char small[5] = "full";
  OK(rmw_qos_profile_check_compatible(offered, requested, &verdict, small, sizeof(small)));
  CHECK(strlen(small) < sizeof(small) && strncmp(small, reason, strlen(small)) == 0);
}

static void profiles_are_compared(void)
{
  // With every policy settled: what is left to the system is at best a warning.
  rmw_qos_profile_t good = plain();
  good.liveliness = RMW_QOS_POLICY_LIVELINESS_AUTOMATIC;
  rmw_qos_profile_t careless = good, keeping = good;
  careless.reliability = RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  keeping.durability = RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL;
  is_compatible(good, good, RMW_QOS_COMPATIBILITY_OK, NULL);
  is_compatible(good, careless, RMW_QOS_COMPATIBILITY_OK, NULL);
  is_compatible(careless, good, RMW_QOS_COMPATIBILITY_ERROR, "eliable");
  is_compatible(good, keeping, RMW_QOS_COMPATIBILITY_ERROR, "transient local");
  is_compatible(keeping, good, RMW_QOS_COMPATIBILITY_OK, NULL);
  is_compatible(rmw_qos_profile_system_default, good, RMW_QOS_COMPATIBILITY_WARNING, "eliable");
  rmw_qos_compatibility_type_t verdict;
  char reason[16];
  IS_NULL(rmw_qos_profile_check_compatible(good, good, NULL, reason, sizeof(reason)));
  IS_NULL(rmw_qos_profile_check_compatible(careless, good, &verdict, NULL, sizeof(reason)));
}

static void identities_are_compared(const world_t * world)
{
  rmw_publisher_t * one = publish_on(world, TEXT, "/t", plain()), * two = publish_on(world, TEXT, "/t", plain());
  rmw_client_t * client = client_of(world, "/s");
  FOREIGN(rmw_publisher_t, foreign_publisher, one);
  FOREIGN(rmw_client_t, foreign_client, client);
  rmw_gid_t first, again, second, third;
  IS_NULL(rmw_get_gid_for_publisher(NULL, &first));
  IS_NULL(rmw_get_gid_for_publisher(one, NULL));
  IS_FOREIGN(rmw_get_gid_for_publisher(&foreign_publisher, &first));
  IS_NULL(rmw_get_gid_for_client(NULL, &third));
  IS_NULL(rmw_get_gid_for_client(client, NULL));
  IS_FOREIGN(rmw_get_gid_for_client(&foreign_client, &third));
  OK(rmw_get_gid_for_publisher(one, &first));
  OK(rmw_get_gid_for_publisher(one, &again));
  OK(rmw_get_gid_for_publisher(two, &second));
  OK(rmw_get_gid_for_client(client, &third));
  bool same = false;
  FOREIGN(rmw_gid_t, foreign, &first);
  IS_NULL(rmw_compare_gids_equal(NULL, &first, &same));
  IS_NULL(rmw_compare_gids_equal(&first, NULL, &same));
  IS_NULL(rmw_compare_gids_equal(&first, &first, NULL));
  IS_FOREIGN(rmw_compare_gids_equal(&foreign, &first, &same));
  IS_FOREIGN(rmw_compare_gids_equal(&first, &foreign, &same));
  OK(rmw_compare_gids_equal(&first, &again, &same));
  CHECK(same);
  OK(rmw_compare_gids_equal(&first, &second, &same));
  CHECK(!same);
  OK(rmw_compare_gids_equal(&first, &third, &same));
  CHECK(!same);
  OK(rmw_destroy_client(world->node, client));
  OK(rmw_destroy_publisher(world->node, two));
  OK(rmw_destroy_publisher(world->node, one));
}

static void the_log_level_is_set(void)
{
  const rmw_log_severity_t levels[] = {
    RMW_LOG_SEVERITY_DEBUG, RMW_LOG_SEVERITY_INFO, RMW_LOG_SEVERITY_WARN, RMW_LOG_SEVERITY_ERROR, RMW_LOG_SEVERITY_FATAL,
  };
  for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
    OK(rmw_set_log_severity(levels[i]));
    CHECK(rcutils_logging_get_logger_level("rmw_shoal") == (int)levels[i]);
  }
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_set_log_severity((rmw_log_severity_t)12345));
  CHECK(rcutils_logging_shutdown() == RCUTILS_RET_OK);
}

void group_features(void)
{
  world_t world;
  world_open(&world, "tester");
  features_are_told();
  profiles_are_compared();
  identities_are_compared(&world);
  the_log_level_is_set();
  world_close(&world);
}
