// rmw/event.h and rmw/events_statuses: each event, waited for and taken.
#include <rmw/events_statuses/events_statuses.h>

#include "groups.h"
#include "world.h"

static const rmw_event_type_t of_publishers[] = {
  RMW_EVENT_LIVELINESS_LOST, RMW_EVENT_OFFERED_DEADLINE_MISSED, RMW_EVENT_OFFERED_QOS_INCOMPATIBLE,
  RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE, RMW_EVENT_PUBLICATION_MATCHED,
};

static const rmw_event_type_t of_subscriptions[] = {
  RMW_EVENT_LIVELINESS_CHANGED, RMW_EVENT_REQUESTED_DEADLINE_MISSED, RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE,
  RMW_EVENT_MESSAGE_LOST, RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE, RMW_EVENT_SUBSCRIPTION_MATCHED,
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void each_side_has_its_events(const world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", plain());
  FOREIGN(rmw_publisher_t, foreign_publisher, publisher);
  FOREIGN(rmw_subscription_t, foreign_subscription, subscription);
  rmw_event_t event = rmw_get_zero_initialized_event();
  rmw_event_type_t matched = RMW_EVENT_PUBLICATION_MATCHED, matching = RMW_EVENT_SUBSCRIPTION_MATCHED;
  IS_NULL(rmw_publisher_event_init(NULL, publisher, matched));
  IS_NULL(rmw_publisher_event_init(&event, NULL, matched));
  IS_FOREIGN(rmw_publisher_event_init(&event, &foreign_publisher, matched));
  IS_NULL(rmw_subscription_event_init(NULL, subscription, matching));
  IS_NULL(rmw_subscription_event_init(&event, NULL, matching));
  IS_FOREIGN(rmw_subscription_event_init(&event, &foreign_subscription, matching));
  // "if event_type is not supported": the other side's, and what is none.
  FAILS(RMW_RET_UNSUPPORTED, rmw_publisher_event_init(&event, publisher, matching));
  FAILS(RMW_RET_UNSUPPORTED, rmw_subscription_event_init(&event, subscription, matched));
  FAILS(RMW_RET_UNSUPPORTED, rmw_publisher_event_init(&event, publisher, RMW_EVENT_INVALID));
  FAILS(RMW_RET_UNSUPPORTED, rmw_subscription_event_init(&event, subscription, RMW_EVENT_INVALID));
  GIVES(!rmw_event_type_is_supported(RMW_EVENT_INVALID));
  for (size_t i = 0; i < COUNT(of_publishers); i++) {
    GIVES(rmw_event_type_is_supported(of_publishers[i]));
    OK(rmw_publisher_event_init(&event, publisher, of_publishers[i]));
    OK(rmw_event_fini(&event));
  }
  for (size_t i = 0; i < COUNT(of_subscriptions); i++) {
    GIVES(rmw_event_type_is_supported(of_subscriptions[i]));
    OK(rmw_subscription_event_init(&event, subscription, of_subscriptions[i]));
    OK(rmw_event_fini(&event));
  }
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_destroy_publisher(world->node, publisher));
}

static rmw_event_t publisher_event(const rmw_publisher_t * publisher, rmw_event_type_t type)
{
  rmw_event_t event = rmw_get_zero_initialized_event();
  OK(rmw_publisher_event_init(&event, publisher, type));
  return event;
}

static rmw_event_t subscription_event(const rmw_subscription_t * subscription, rmw_event_type_t type)
{
  rmw_event_t event = rmw_get_zero_initialized_event();
  OK(rmw_subscription_event_init(&event, subscription, type));
  return event;
}

// Waits for an event and takes it.
static void take_next(world_t * world, rmw_event_t * event, void * status)
{
  bool taken = false;
  CHECK(wait_event(world, event, LONG));
  OK(rmw_take_event(event, status, &taken));
  CHECK(taken);
}

static void matches_are_counted(world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  rmw_event_t offered = publisher_event(publisher, RMW_EVENT_PUBLICATION_MATCHED);
  rmw_matched_status_t status;
  bool taken = false;
  FOREIGN(rmw_event_t, foreign, &offered);
  rmw_event_t zero = rmw_get_zero_initialized_event();
  IS_NULL(rmw_take_event(NULL, &status, &taken));
  IS_NULL(rmw_take_event(&offered, NULL, &taken));
  IS_NULL(rmw_take_event(&offered, &status, NULL));
  IS_FOREIGN(rmw_take_event(&foreign, &status, &taken));
  IS_FOREIGN(rmw_take_event(&zero, &status, &taken));
  CHECK(!wait_event(world, &offered, NOW));
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", plain());
  take_next(world, &offered, &status);
  CHECK(status.total_count == 1 && status.total_count_change == 1);
  CHECK(status.current_count == 1 && status.current_count_change == 1);
  rmw_event_t requested = subscription_event(subscription, RMW_EVENT_SUBSCRIPTION_MATCHED);
  take_next(world, &requested, &status);
  CHECK(status.total_count == 1 && status.current_count == 1);
  rmw_publisher_t * another = publish_on(world, TEXT, "/t", plain());
  take_next(world, &requested, &status);
  CHECK(status.total_count == 2 && status.total_count_change == 1 && status.current_count == 2);
  OK(rmw_destroy_publisher(world->node, another));
  take_next(world, &requested, &status);
  CHECK(status.total_count == 2 && status.total_count_change == 0);
  CHECK(status.current_count == 1 && status.current_count_change == -1);
  OK(rmw_event_fini(&requested));
  OK(rmw_destroy_subscription(world->node, subscription));
  take_next(world, &offered, &status);
  CHECK(status.current_count == 0 && status.current_count_change == -1);
  OK(rmw_event_fini(&offered));
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void profiles_that_do_not_fit_are_told(world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  rmw_event_t offered = publisher_event(publisher, RMW_EVENT_OFFERED_QOS_INCOMPATIBLE);
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", latched());
  rmw_event_t requested = subscription_event(subscription, RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE);
  rmw_qos_incompatible_event_status_t status;
  take_next(world, &offered, &status);
  CHECK(status.total_count == 1 && status.total_count_change == 1);
  CHECK(status.last_policy_kind == RMW_QOS_POLICY_DURABILITY);
  take_next(world, &requested, &status);
  CHECK(status.total_count == 1 && status.last_policy_kind == RMW_QOS_POLICY_DURABILITY);
  CHECK(!wait_event(world, &requested, NOW));
  OK(rmw_event_fini(&requested));
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_event_fini(&offered));
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void types_that_differ_are_told(world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  rmw_event_t offered = publisher_event(publisher, RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE);
  rmw_subscription_t * subscription = subscribe_to(world, NUMBER, "/t", plain());
  rmw_event_t requested = subscription_event(subscription, RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE);
  rmw_incompatible_type_status_t status;
  take_next(world, &offered, &status);
  CHECK(status.total_count == 1 && status.total_count_change == 1);
  take_next(world, &requested, &status);
  CHECK(status.total_count == 1 && status.total_count_change == 1);
  OK(rmw_event_fini(&requested));
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_event_fini(&offered));
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void missed_deadlines_are_told(world_t * world)
{
  rmw_qos_profile_t profile = plain();
  profile.deadline.nsec = 20000000;
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", profile);
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", profile);
  rmw_event_t offered = publisher_event(publisher, RMW_EVENT_OFFERED_DEADLINE_MISSED);
  rmw_event_t requested = subscription_event(subscription, RMW_EVENT_REQUESTED_DEADLINE_MISSED);
  send_text(publisher, "the only one");
  rmw_offered_deadline_missed_status_t missed;
  take_next(world, &offered, &missed);
  CHECK(missed.total_count >= 1 && missed.total_count_change == missed.total_count);
  rmw_requested_deadline_missed_status_t waited;
  take_next(world, &requested, &waited);
  CHECK(waited.total_count >= 1 && waited.total_count_change == waited.total_count);
  OK(rmw_event_fini(&requested));
  OK(rmw_event_fini(&offered));
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void liveliness_is_told(world_t * world)
{
  rmw_qos_profile_t profile = plain();
  profile.liveliness = RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC;
  profile.liveliness_lease_duration.nsec = 300000000;
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", profile);
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", profile);
  rmw_event_t lost = publisher_event(publisher, RMW_EVENT_LIVELINESS_LOST);
  rmw_event_t changed = subscription_event(subscription, RMW_EVENT_LIVELINESS_CHANGED);
  rmw_liveliness_changed_status_t now;
  OK(rmw_publisher_assert_liveliness(publisher));
  take_next(world, &changed, &now);
  CHECK(now.alive_count + now.not_alive_count == 1);
  while (now.not_alive_count == 0) {  // Busy machines may see both changes at once.
    take_next(world, &changed, &now);
  }
  CHECK(now.alive_count == 0 && now.not_alive_count == 1);
  rmw_liveliness_lost_status_t status;
  take_next(world, &lost, &status);
  CHECK(status.total_count == 1 && status.total_count_change == 1);
  OK(rmw_event_fini(&changed));
  OK(rmw_event_fini(&lost));
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_destroy_publisher(world->node, publisher));
}

// What a KEEP_ALL reader was too slow for, where the publisher does not wait for it.
static void lost_messages_are_told(world_t * world)
{
  rmw_qos_profile_t profile = plain();
  profile.history = RMW_QOS_POLICY_HISTORY_KEEP_ALL;
  profile.reliability = RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  rmw_publisher_t * publisher = publish_on(world, STAMP, "/t", profile);
  rmw_subscription_t * subscription = subscribe_to(world, STAMP, "/t", profile);
  rmw_event_t lost = subscription_event(subscription, RMW_EVENT_MESSAGE_LOST);
  void * message = message_new(STAMP);
  const int kept = 65536;
  int sent = 0;
  for (int i = 0; i < kept + 5; i++) {
    sent += rmw_publish(publisher, message, NULL) == RMW_RET_OK;
  }
  CHECK(sent == kept + 5);
  bool taken = false;
  OK(rmw_take(subscription, message, &taken, NULL));
  CHECK(taken);
  rmw_message_lost_status_t status;
  take_next(world, &lost, &status);
  CHECK(status.total_count == 5 && status.total_count_change == 5);
  message_free(STAMP, message);
  OK(rmw_event_fini(&lost));
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_destroy_publisher(world->node, publisher));
}

void group_events(void)
{
  world_t world;
  world_open(&world, "tester");
  each_side_has_its_events(&world);
  matches_are_counted(&world);
  profiles_that_do_not_fit_are_told(&world);
  types_that_differ_are_told(&world);
  missed_deadlines_are_told(&world);
  liveliness_is_told(&world);
  lost_messages_are_told(&world);
  world_close(&world);
}
