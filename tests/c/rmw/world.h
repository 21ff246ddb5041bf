// Contexts, endpoints and waits, as most groups need them.
#ifndef WORLD_H_
#define WORLD_H_

#include "check.h"
#include "types.h"

typedef struct world
{
  rmw_context_t context;
  rmw_node_t * node;
} world_t;

// Options with which rmw_init works: an enclave, and discovery on this computer.
void options_open(rmw_init_options_t * options);

// A context with a node of this name.
void world_open(world_t * world, const char * node);
void world_close(world_t * world);

// Reliable, volatile, keep last 10.
rmw_qos_profile_t plain(void);
// As plain, but what was published is kept for late joiners.
rmw_qos_profile_t latched(void);

rmw_publisher_t * publish_on(const world_t * world, type_t type, const char * topic, rmw_qos_profile_t profile);
rmw_subscription_t * subscribe_to(const world_t * world, type_t type, const char * topic, rmw_qos_profile_t profile);
rmw_client_t * client_of(const world_t * world, const char * service);
rmw_service_t * serve(const world_t * world, const char * service);

void send_text(const rmw_publisher_t * publisher, const char * text);
// Takes a text that has arrived, which must be this one.
void take_text(const rmw_subscription_t * subscription, const char * text);
void send_number(const rmw_publisher_t * publisher, int32_t number);
void take_number(const rmw_subscription_t * subscription, int32_t number);
void take_nothing(const rmw_subscription_t * subscription);

// Waits up to so many milliseconds for one thing; true when it is ready.
bool wait_subscription(world_t * world, const rmw_subscription_t * subscription, int milliseconds);
bool wait_service(world_t * world, const rmw_service_t * service, int milliseconds);
bool wait_client(world_t * world, const rmw_client_t * client, int milliseconds);
bool wait_guard(world_t * world, const rmw_guard_condition_t * guard, int milliseconds);
bool wait_event(world_t * world, rmw_event_t * event, int milliseconds);

// More than anything takes on a machine that is busy with other things.
#define LONG 30000
// Nothing more is to come: a look.
#define NOW 0

#endif  // WORLD_H_
