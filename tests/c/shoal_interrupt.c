// Waits until SIGINT interrupts it, then shows that resuming lets it wait again, and that the handler is given back.
//
// usage: shoal_interrupt TOPIC
#include <signal.h>
#include <unistd.h>

#include "shoal_test.h"

static void of_the_user(int signal)
{
  (void)signal;
}

// SIGALRM a thousand times a second: it must neither end nor stretch a wait.
static void start_noise(void)
{
  CHECK(signal(SIGALRM, of_the_user) != SIG_ERR);
  CHECK(ualarm(1000, 1000) == 0);
}

static void handlers_are_given_back(void)
{
  const int impossible[] = {SIGUSR1, SIGKILL};
  CHECK(signal(SIGUSR1, of_the_user) == SIG_DFL);
  CHECK(shoal_interrupt_guard_create(impossible, 2) == NULL);
  rmw_reset_error();
  CHECK(signal(SIGUSR1, SIG_DFL) == of_the_user);
}

int main(int argc, char ** argv)
{
  CHECK(argc == 2);
  world_t world;
  world_open(&world, "interrupted");
  rmw_subscription_t * subscription = subscription_on(&world, argv[1]);
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world.context, 1);
  CHECK(wait_set != NULL);
  handlers_are_given_back();
  const int signals[] = {SIGINT};
  shoal_interrupt_guard_t * guard = shoal_interrupt_guard_create(signals, 1);
  shoal_interrupt_guard_t * other = shoal_interrupt_guard_create(NULL, 0);
  CHECK(guard != NULL && other != NULL && !shoal_interrupt_guard_interrupted(other));
  start_noise();
  SAY("armed");
  shoal_outcome_t outcome;
  long taken = 0;
  while ((outcome = wait_for(subscription, wait_set, 60)) == SHOAL_READY) {
    std_msgs__msg__String message;
    bool is_taken = false;
    CHECK(std_msgs__msg__String__init(&message));
    CHECK(rmw_take(subscription, &message, &is_taken, NULL) == RMW_RET_OK);
    std_msgs__msg__String__fini(&message);
    taken += is_taken;
    if (taken == 1) {
      SAY("taking");
    }
  }
  SAY("%s", outcome_name(outcome));
  CHECK(shoal_interrupt_guard_interrupted(other));
  CHECK(wait_for(subscription, wait_set, 60) == SHOAL_INTERRUPTED);
  CHECK(shoal_interrupt_guard_resume(other) == RMW_RET_OK && !shoal_interrupt_guard_interrupted(guard));
  CHECK(wait_for(subscription, wait_set, 0) != SHOAL_INTERRUPTED);
  CHECK(shoal_interrupt_guard_interrupt(other) == RMW_RET_OK);
  CHECK(wait_for(subscription, wait_set, 60) == SHOAL_INTERRUPTED);
  CHECK(shoal_interrupt_guard_resume(guard) == RMW_RET_OK);
  CHECK(shoal_interrupt_guard_destroy(other) == RMW_RET_OK);
  CHECK(shoal_interrupt_guard_destroy(guard) == RMW_RET_OK);
  CHECK(signal(SIGINT, SIG_DFL) == SIG_DFL);
  CHECK(rmw_destroy_wait_set(wait_set) == RMW_RET_OK);
  CHECK(rmw_destroy_subscription(world.node, subscription) == RMW_RET_OK);
  world_close(&world);
  SAY("done");
  return 0;
}
