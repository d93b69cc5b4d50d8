/*
 * Parses with libyaml the YAML of every file that standard input lists, one per line, up to the last event. Prints the
 * number of events; exits with 1 if a file could not be read or is not YAML.
 *
 * cc -O2 -o libyaml_events libyaml_events.c -lyaml
 */

#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* Counts the events of a file; returns 0 if it could not be read or parsed. */
static int events_of(const char *path, unsigned long *events)
{
	yaml_parser_t parser;
	yaml_event_t event;
	int ended = 0;
	FILE *file = fopen(path, "rb");

	if (file == NULL)
		return 0;
	if (!yaml_parser_initialize(&parser)) {
		fclose(file);
		return 0;
	}
	yaml_parser_set_input_file(&parser, file);
	while (!ended && yaml_parser_parse(&parser, &event)) {
		ended = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
		*events += 1;
	}
	yaml_parser_delete(&parser);
	fclose(file);
	return ended;
}

int main(void)
{
	char path[4096];
	unsigned long files = 0, failed = 0, events = 0;

	while (fgets(path, sizeof path, stdin) != NULL) {
		path[strcspn(path, "\n")] = '\0';
		files += 1;
		if (!events_of(path, &events)) {
			fprintf(stderr, "cannot be parsed: %s\n", path);
			failed += 1;
		}
	}
	printf("%lu files, %lu failed, %lu events\n", files, failed, events);
	return failed > 0;
}
