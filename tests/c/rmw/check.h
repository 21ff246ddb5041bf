// What the programs share. Every file of this folder that is not named for a language is compiled twice, as C and as
// C++, so that both see the whole API; types.h hides which of the two it is.
#ifndef CHECK_H_
#define CHECK_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rcutils/allocator.h>
#include <rcutils/strdup.h>
#include <rmw/error_handling.h>
#include <rmw/event.h>
#include <rmw/features.h>
#include <rmw/get_network_flow_endpoints.h>
#include <rmw/get_node_info_and_types.h>
#include <rmw/get_service_names_and_types.h>
#include <rmw/get_topic_endpoint_info.h>
#include <rmw/get_topic_names_and_types.h>
#include <rmw/names_and_types.h>
#include <rmw/rmw.h>
#include <rmw/topic_endpoint_info_array.h>

// Generated from the list of exports: each of them as a macro that counts its calls.
#include "counted.h"

// Before every call of an export.
#define CALLED(name) count_call(CALL_##name)
void count_call(enum call call);

// Prints how often each export was called, did what it should, and refused what it should.
void print_calls(void);

// Ends the program unless the condition holds.
#define CHECK(condition) check_that((condition), __FILE__, __LINE__, #condition)
// A call whose value is right.
#define GIVES(condition) check_gives((condition), __FILE__, __LINE__, #condition)
// A call that succeeds, and leaves no error behind.
#define OK(call) check_ok((call), __FILE__, __LINE__, #call)
// A call that its header lets fail with this code; the error says which function and why.
#define FAILS(code, call) check_fails((code), (call), __FILE__, __LINE__, #call)
// A call that ran into the time it was given, which is no error.
#define TIMES_OUT(call) check_times_out((call), __FILE__, __LINE__, #call)
// The handle that the call before made.
#define MADE(handle) check_made((handle) != NULL, __FILE__, __LINE__, #handle)
// A call that makes nothing, and says why.
#define NOT_MADE(call) check_not_made((call) == NULL, __FILE__, __LINE__, #call)

// The codes that many calls have in common, where the header says "NULL" and "not an allocated handle of ours".
#define IS_NULL(call) FAILS(RMW_RET_INVALID_ARGUMENT, call)
#define IS_FOREIGN(call) FAILS(RMW_RET_INCORRECT_RMW_IMPLEMENTATION, call)

// For the two functions whose headers say INVALID_ARGUMENT of NULL while the conformance suite of ROS up to Jazzy, which
// is the last with localhost.h, asks for ERROR: the suite decides.
#if __has_include(<rmw/localhost.h>)
#define NULL_OF_THE_SUITE RMW_RET_ERROR
#else
#define NULL_OF_THE_SUITE RMW_RET_INVALID_ARGUMENT
#endif

void check_that(bool held, const char * file, int line, const char * text);
void check_gives(bool held, const char * file, int line, const char * text);
void check_ok(rmw_ret_t code, const char * file, int line, const char * text);
void check_fails(rmw_ret_t expected, rmw_ret_t code, const char * file, int line, const char * text);
void check_times_out(rmw_ret_t code, const char * file, int line, const char * text);
void check_made(bool made, const char * file, int line, const char * text);
void check_not_made(bool refused, const char * file, int line, const char * text);

// A handle that another implementation made.
#define FOREIGN(type, name, handle) \
  type name = *(handle); \
  name.implementation_identifier = "rmw_other"

// An allocator that rcutils calls valid and that never has memory.
rcutils_allocator_t empty_allocator(void);

#endif  // CHECK_H_
