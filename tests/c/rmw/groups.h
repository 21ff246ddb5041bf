// The groups, each a file named after the rmw headers it drives, and the children that they start.
#ifndef GROUPS_H_
#define GROUPS_H_

#define GROUPS(X) \
  X(init) \
  X(node) \
  X(graph) \
  X(publisher) \
  X(subscription) \
  X(take) \
  X(services) \
  X(waits) \
  X(events) \
  X(callbacks) \
  X(filters) \
  X(loans) \
  X(serialization) \
  X(values) \
  X(features) \
  X(refusals) \
  X(processes)

#define DECLARE_GROUP(name) void group_##name(void);
GROUPS(DECLARE_GROUP)
#undef DECLARE_GROUP

// The path of this program, for children. Not /proc/self/exe: that may be a tool which interprets the program.
extern const char * program_path;

// What this program does as the child of a group.
void child_talker(void);
void child_listener(void);
void child_server(void);

#endif  // GROUPS_H_
