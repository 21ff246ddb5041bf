#include "check.h"

// Each group and each child is a process of its own; only callbacks and waiting threads call from elsewhere.
static unsigned calls[CALLS];
static unsigned good[CALLS];
static unsigned refused[CALLS];
static __thread enum call last;
static unsigned checks;

#define NAME(name) #name,
static const char * const names[] = {RMW_EXPORTS(NAME)};

void count_call(enum call call)
{
  last = call;
  __atomic_fetch_add(&calls[call], 1, __ATOMIC_RELAXED);
}

void print_calls(void)
{
  for (int call = 0; call < CALLS; call++) {
    if (calls[call] > 0) {
      printf("call %s %u %u %u\n", names[call], calls[call], good[call], refused[call]);
    }
  }
  printf("%u checks\n", checks);
}

static void fail(const char * file, int line, const char * text, const char * why)
{
  rmw_error_string_t error = rmw_get_error_string();
  printf("%s:%d: %s: %s (%s)\n", file, line, text, why, error.str);
  exit(1);
}

void check_that(bool held, const char * file, int line, const char * text)
{
  checks++;
  if (!held) {
    fail(file, line, text, "does not hold");
  }
}

void check_gives(bool held, const char * file, int line, const char * text)
{
  check_that(held, file, line, text);
  good[last]++;
}

static void check_code(rmw_ret_t expected, rmw_ret_t code, const char * file, int line, const char * text)
{
  checks++;
  if (code != expected) {
    char why[80];
    snprintf(why, sizeof(why), "returned %d, not %d", (int)code, (int)expected);
    fail(file, line, text, why);
  }
}

void check_ok(rmw_ret_t code, const char * file, int line, const char * text)
{
  check_code(RMW_RET_OK, code, file, line, text);
  if (rmw_error_is_set()) {
    fail(file, line, text, "succeeded, but left an error");
  }
  good[last]++;
}

// Whoever fails says who it is: "rmw_name: what was wrong".
static void check_error(const char * file, int line, const char * text)
{
  checks++;
  size_t length = strlen(names[last]);
  rmw_error_string_t error = rmw_get_error_string();
  bool says_who = strncmp(error.str, names[last], length) == 0 && strncmp(error.str + length, ": ", 2) == 0;
  if (!rmw_error_is_set() || !says_who) {
    fail(file, line, text, "does not say which function failed and why");
  }
  rmw_reset_error();
  refused[last]++;
}

void check_fails(rmw_ret_t expected, rmw_ret_t code, const char * file, int line, const char * text)
{
  check_code(expected, code, file, line, text);
  check_error(file, line, text);
}

void check_times_out(rmw_ret_t code, const char * file, int line, const char * text)
{
  check_code(RMW_RET_TIMEOUT, code, file, line, text);
  check_that(!rmw_error_is_set(), file, line, text);
}

void check_made(bool made, const char * file, int line, const char * text)
{
  check_gives(made, file, line, text);
}

void check_not_made(bool is_null, const char * file, int line, const char * text)
{
  check_that(is_null, file, line, text);
  check_error(file, line, text);
}

static void * no_memory(size_t size, void * state)
{
  (void)size;
  (void)state;
  return NULL;
}

static void * no_more(void * pointer, size_t size, void * state)
{
  (void)pointer;
  (void)size;
  (void)state;
  return NULL;
}

static void * no_zeroed_memory(size_t count, size_t size, void * state)
{
  (void)count;
  (void)size;
  (void)state;
  return NULL;
}

static void free_nothing(void * pointer, void * state)
{
  (void)state;
  CHECK(pointer == NULL);
}

rcutils_allocator_t empty_allocator(void)
{
  rcutils_allocator_t allocator = rcutils_get_zero_initialized_allocator();
  allocator.allocate = no_memory;
  allocator.reallocate = no_more;
  allocator.zero_allocate = no_zeroed_memory;
  allocator.deallocate = free_nothing;
  return allocator;
}
