// `program --list`: the groups. `program <group> <type support>`: runs one; the first failure ends it with 1, and at the
// end it prints how often it called what.
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "groups.h"
#include "types.h"

const char * program_path;

typedef struct entry
{
  const char * name;
  void (* run)(void);
} entry_t;

#define GROUP(name) {#name, group_##name},
static const entry_t groups[] = {GROUPS(GROUP)};

// Loses memory, so that whoever looks for lost memory can be tested.
static void lose_memory(void)
{
  char * volatile lost = (char *)malloc(100);
  CHECK(lost != NULL);
  lost = NULL;
  CHECK(lost == NULL);
}

static const entry_t children[] = {
  {"--lossy", lose_memory},
  {"--talker", child_talker},
  {"--listener", child_listener},
  {"--server", child_server},
};

static bool run(const entry_t * entries, size_t count, const char * name)
{
  for (size_t i = 0; i < count; i++) {
    if (strcmp(entries[i].name, name) == 0) {
      entries[i].run();
      return true;
    }
  }
  return false;
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

int main(int argc, char ** argv)
{
  program_path = argv[0];
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (size_t i = 0; i < COUNT(groups); i++) {
      printf("%s\n", groups[i].name);
    }
    return 0;
  }
  if (argc != 3) {
    fprintf(stderr, "usage: %s --list | <group> dispatch|introspection\n", argv[0]);
    return 2;
  }
  introspection = strcmp(argv[2], "introspection") == 0;
  if (run(children, COUNT(children), argv[1])) {
    return 0;
  }
  if (!run(groups, COUNT(groups), argv[1])) {
    fprintf(stderr, "there is no group %s\n", argv[1]);
    return 2;
  }
  print_calls();
  return 0;
}
