// What takes two processes: history of one that is stopped, samples and answers of another, and the end of one.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "groups.h"
#include "world.h"

// This program again, as a child of that name. It says when it is ready, and ends when its standard input does.
typedef struct child
{
  pid_t pid;
  int input;
} child_t;

static child_t start(const char * name)
{
  int in[2], out[2];
  CHECK(pipe(in) == 0 && pipe(out) == 0);
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    for (int i = 0; i < 2; i++) {
      close(in[i]);
      close(out[i]);
    }
    execl(program_path, program_path, name, introspection ? "introspection" : "dispatch", (char *)NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  char ready = 0;
  CHECK(read(out[0], &ready, 1) == 1 && ready == 'r');
  close(out[0]);
  child_t child = {pid, in[1]};
  return child;
}

static void end(child_t child)
{
  int status = 0;
  close(child.input);
  CHECK(waitpid(child.pid, &status, 0) == child.pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void say_ready(void)
{
  CHECK(write(STDOUT_FILENO, "r", 1) == 1);
}

static void wait_for_the_end(void)
{
  char byte;
  CHECK(read(STDIN_FILENO, &byte, 1) == 0);
}

void child_talker(void)
{
  world_t world;
  world_open(&world, "talker");
  rmw_publisher_t * publisher = publish_on(&world, TEXT, "/history", latched());
  send_text(publisher, "one");
  send_text(publisher, "two");
  send_text(publisher, "three");
  say_ready();
  wait_for_the_end();
  OK(rmw_destroy_publisher(world.node, publisher));
  world_close(&world);
}

// Sends back what it hears.
void child_listener(void)
{
  world_t world;
  world_open(&world, "listener");
  rmw_subscription_t * subscription = subscribe_to(&world, NUMBER, "/there", plain());
  rmw_publisher_t * publisher = publish_on(&world, NUMBER, "/back", plain());
  say_ready();
  CHECK(wait_subscription(&world, subscription, LONG));
  take_number(subscription, 12);
  send_number(publisher, 24);
  wait_for_the_end();
  OK(rmw_destroy_publisher(world.node, publisher));
  OK(rmw_destroy_subscription(world.node, subscription));
  world_close(&world);
}

void child_server(void)
{
  world_t world;
  world_open(&world, "server");
  rmw_service_t * service = serve(&world, "/far");
  say_ready();
  CHECK(wait_service(&world, service, LONG));
  rmw_service_info_t header;
  bool taken = false;
  void * request = request_new(false), * response = response_new("from afar");
  OK(rmw_take_request(service, &header, request, &taken));
  CHECK(taken && request_of(request));
  OK(rmw_send_response(service, &header.request_id, response));
  response_free(response);
  request_free(request);
  wait_for_the_end();
  OK(rmw_destroy_service(world.node, service));
  world_close(&world);
}

static size_t publishers_of(const world_t * world, const char * topic)
{
  size_t count = 0;
  OK(rmw_count_publishers(world->node, topic, &count));
  return count;
}

static void history_of_a_stopped_process_is_read(world_t * world)
{
  const rmw_guard_condition_t * graph = rmw_node_get_graph_guard_condition(world->node);
  MADE(graph);
  child_t talker = start("--talker");
  CHECK(kill(talker.pid, SIGSTOP) == 0);
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/history", latched());
  take_text(subscription, "one");
  take_text(subscription, "two");
  take_text(subscription, "three");
  take_nothing(subscription);
  CHECK(publishers_of(world, "/history") == 1);
  // Killed, it says nothing; the graph is told by who looks.
  CHECK(kill(talker.pid, SIGKILL) == 0);
  int status = 0;
  CHECK(waitpid(talker.pid, &status, 0) == talker.pid && WIFSIGNALED(status));
  close(talker.input);
  while (publishers_of(world, "/history") > 0) {
    (void)wait_guard(world, graph, LONG);
  }
  OK(rmw_destroy_subscription(world->node, subscription));
}

static void samples_go_there_and_back(world_t * world)
{
  child_t listener = start("--listener");
  rmw_publisher_t * publisher = publish_on(world, NUMBER, "/there", plain());
  rmw_subscription_t * subscription = subscribe_to(world, NUMBER, "/back", plain());
  send_number(publisher, 12);
  CHECK(wait_subscription(world, subscription, LONG));
  take_number(subscription, 24);
  end(listener);
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void another_process_answers(world_t * world)
{
  child_t server = start("--server");
  rmw_client_t * client = client_of(world, "/far");
  bool flag = false;
  OK(rmw_service_server_is_available(world->node, client, &flag));
  CHECK(flag);
  int64_t sequence = 0;
  void * request = request_new(true), * response = response_new("");
  OK(rmw_send_request(client, request, &sequence));
  CHECK(wait_client(world, client, LONG));
  rmw_service_info_t header;
  OK(rmw_take_response(client, &header, response, &flag));
  CHECK(flag && header.request_id.sequence_number == sequence);
  CHECK(strcmp(response_of(response), "from afar") == 0);
  end(server);
  OK(rmw_service_server_is_available(world->node, client, &flag));
  CHECK(!flag);
  response_free(response);
  request_free(request);
  OK(rmw_destroy_client(world->node, client));
}

void group_processes(void)
{
  world_t world;
  world_open(&world, "parent");
  history_of_a_stopped_process_is_read(&world);
  samples_go_there_and_back(&world);
  another_process_answers(&world);
  world_close(&world);
}
