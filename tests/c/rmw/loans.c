// rmw/rmw.h: loaned messages.
#include "groups.h"
#include "world.h"

// The place for a loan that is taken already.
static int somewhere;

static void a_loan_is_published_where_it_lies(world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, STAMP, "/t", plain());
  rmw_subscription_t * subscription = subscribe_to(world, STAMP, "/t", plain());
  CHECK(publisher->can_loan_messages && subscription->can_loan_messages);
  void * lent = NULL;
  OK(rmw_borrow_loaned_message(publisher, type_of(STAMP), &lent));
  CHECK(lent != NULL && stamp_of(lent) == 0);
  stamp_set(lent, 42);
  OK(rmw_publish_loaned_message(publisher, lent, NULL));
  CHECK(wait_subscription(world, subscription, LONG));
  void * held = NULL;
  bool taken = false;
  OK(rmw_take_loaned_message(subscription, &held, &taken, NULL));
  CHECK(taken && stamp_of(held) == 42);
  // What is held stays, whatever the publisher does.
  for (int32_t i = 0; i < 50; i++) {
    void * next = NULL;
    OK(rmw_borrow_loaned_message(publisher, type_of(STAMP), &next));
    stamp_set(next, i);
    OK(rmw_publish_loaned_message(publisher, next, NULL));
  }
  OK(rmw_destroy_publisher(world->node, publisher));
  CHECK(stamp_of(held) == 42);
  OK(rmw_return_loaned_message_from_subscription(subscription, held));
  OK(rmw_destroy_subscription(world->node, subscription));
}

static void the_lender_wants_its_arguments(const world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, STAMP, "/t", plain());
  FOREIGN(rmw_publisher_t, foreign, publisher);
  void * lent = NULL, * full = &somewhere;
  IS_NULL(rmw_borrow_loaned_message(NULL, type_of(STAMP), &lent));
  IS_NULL(rmw_borrow_loaned_message(publisher, NULL, &lent));
  IS_NULL(rmw_borrow_loaned_message(publisher, type_of(STAMP), NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_borrow_loaned_message(publisher, type_of(STAMP), &full));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_borrow_loaned_message(publisher, type_of(NUMBER), &lent));
  IS_FOREIGN(rmw_borrow_loaned_message(&foreign, type_of(STAMP), &lent));
  CHECK(lent == NULL);
  OK(rmw_borrow_loaned_message(publisher, type_of(STAMP), &lent));
  IS_NULL(rmw_publish_loaned_message(NULL, lent, NULL));
  IS_NULL(rmw_publish_loaned_message(publisher, NULL, NULL));
  IS_FOREIGN(rmw_publish_loaned_message(&foreign, lent, NULL));
  IS_NULL(rmw_return_loaned_message_from_publisher(NULL, lent));
  IS_NULL(rmw_return_loaned_message_from_publisher(publisher, NULL));
  IS_FOREIGN(rmw_return_loaned_message_from_publisher(&foreign, lent));
  // What was never lent, and what was given back already.
  FAILS(RMW_RET_ERROR, rmw_publish_loaned_message(publisher, &somewhere, NULL));
  FAILS(RMW_RET_ERROR, rmw_return_loaned_message_from_publisher(publisher, &somewhere));
  OK(rmw_return_loaned_message_from_publisher(publisher, lent));
  FAILS(RMW_RET_ERROR, rmw_return_loaned_message_from_publisher(publisher, lent));
  FAILS(RMW_RET_ERROR, rmw_publish_loaned_message(publisher, lent, NULL));
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void the_taker_wants_its_arguments(const world_t * world)
{
  rmw_subscription_t * subscription = subscribe_to(world, NUMBER, "/n", plain());
  rmw_publisher_t * publisher = publish_on(world, NUMBER, "/n", plain());
  FOREIGN(rmw_subscription_t, foreign, subscription);
  void * held = NULL, * full = &somewhere;
  bool taken = true;
  rmw_message_info_t info;
  IS_NULL(rmw_take_loaned_message(NULL, &held, &taken, NULL));
  IS_NULL(rmw_take_loaned_message(subscription, NULL, &taken, NULL));
  IS_NULL(rmw_take_loaned_message(subscription, &held, NULL, NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_take_loaned_message(subscription, &full, &taken, NULL));
  IS_FOREIGN(rmw_take_loaned_message(&foreign, &held, &taken, NULL));
  IS_NULL(rmw_take_loaned_message_with_info(NULL, &held, &taken, &info, NULL));
  IS_NULL(rmw_take_loaned_message_with_info(subscription, NULL, &taken, &info, NULL));
  IS_NULL(rmw_take_loaned_message_with_info(subscription, &held, NULL, &info, NULL));
  IS_NULL(rmw_take_loaned_message_with_info(subscription, &held, &taken, NULL, NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_take_loaned_message_with_info(subscription, &full, &taken, &info, NULL));
  IS_FOREIGN(rmw_take_loaned_message_with_info(&foreign, &held, &taken, &info, NULL));
  OK(rmw_take_loaned_message(subscription, &held, &taken, NULL));
  CHECK(!taken && held == NULL);
  send_number(publisher, 3);
  OK(rmw_take_loaned_message_with_info(subscription, &held, &taken, &info, NULL));
  CHECK(taken && number_of(held) == 3 && info.publication_sequence_number == 1);
  IS_NULL(rmw_return_loaned_message_from_subscription(NULL, held));
  IS_NULL(rmw_return_loaned_message_from_subscription(subscription, NULL));
  IS_FOREIGN(rmw_return_loaned_message_from_subscription(&foreign, held));
  FAILS(RMW_RET_ERROR, rmw_return_loaned_message_from_subscription(subscription, &somewhere));
  OK(rmw_return_loaned_message_from_subscription(subscription, held));
  FAILS(RMW_RET_ERROR, rmw_return_loaned_message_from_subscription(subscription, held));
  OK(rmw_destroy_publisher(world->node, publisher));
  OK(rmw_destroy_subscription(world->node, subscription));
}

// UNSUPPORTED "if the implementation does not support ROS message loaning", here for types with strings.
static void texts_are_not_lent(const world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", plain());
  CHECK(!publisher->can_loan_messages && !subscription->can_loan_messages);
  void * place = NULL;
  bool taken = true;
  rmw_message_info_t info;
  FAILS(RMW_RET_UNSUPPORTED, rmw_borrow_loaned_message(publisher, type_of(TEXT), &place));
  FAILS(RMW_RET_UNSUPPORTED, rmw_publish_loaned_message(publisher, &somewhere, NULL));
  FAILS(RMW_RET_UNSUPPORTED, rmw_return_loaned_message_from_publisher(publisher, &somewhere));
  FAILS(RMW_RET_UNSUPPORTED, rmw_take_loaned_message(subscription, &place, &taken, NULL));
  FAILS(RMW_RET_UNSUPPORTED, rmw_take_loaned_message_with_info(subscription, &place, &taken, &info, NULL));
  FAILS(RMW_RET_UNSUPPORTED, rmw_return_loaned_message_from_subscription(subscription, &somewhere));
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_destroy_publisher(world->node, publisher));
}

void group_loans(void)
{
  world_t world;
  world_open(&world, "tester");
  a_loan_is_published_where_it_lies(&world);
  the_lender_wants_its_arguments(&world);
  the_taker_wants_its_arguments(&world);
  texts_are_not_lent(&world);
  world_close(&world);
}
