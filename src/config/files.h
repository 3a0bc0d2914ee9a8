/* The files that variables name, and those of rules as tuning writes them.  No MPI.  why gets what
 * is wrong with one: its path, line and column where it was read, and what is allowed. */
#ifndef AR_FILES_H
#define AR_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/machine.h"
#include "model/placement.h"
#include "select/select.h"
#include "select/words.h"

/* Begins the line that says where the rules were tuned: "#! tuned: name=value; ...". */
#define AR_PROVENANCE_MARK "#! tuned: "

/* Reads and parses a file of rules whole, by its path or the name of an installed one (data.h).
 * AR_OK, with *rules the caller's to destroy, and *tuned,
 * if not NULL, what follows the mark, malloced, or NULL where no line begins with it;
 * AR_ERR_SYNTAX; AR_ERR_MEMORY. */
int ar_rules_file_read(struct ar_rules **rules, char **tuned, const char *name,
                       struct ar_text *why);

/* "# For ALLREDUCE_RULES; <how> <by>", and the line by which the library knows the machine and job
 * that they were tuned on. */
void ar_rules_header_write(FILE *to, const char *how, const char *by, const char *job);

/* Writes "choice:from-end@ranks,type=...", without the end of the line.  request has the number of
 * ranks (0: any) and the traits; the clause asks for the traits in asks. */
void ar_rules_clause_write(FILE *to, const struct ar_choice *choice, size_t from, size_t end,
                           const struct ar_request *request, unsigned asks);

/* As ar_rules_file_read, for the description of a machine.  AR_OK; AR_ERR_SYNTAX; AR_ERR_MEMORY. */
int ar_model_file_read(struct ar_machine *machine, const char *name, struct ar_text *why);

/* Reads a placement: a shape, or else the name of a host file, which is read whole.  AR_OK, and it
 * is the caller's to fini; AR_ERR_SYNTAX; AR_ERR_MEMORY. */
int ar_placement_read(struct ar_placement *placement, const char *text, struct ar_text *why);

/* Can a file have this name, in which %j, %u, %h, %p and %% are special?  AR_OK or
 * AR_ERR_SYNTAX. */
int ar_stats_name_check(const char *name, struct ar_text *why);

/* Likewise, and can this process write it? */
int ar_stats_file_check(const char *name, struct ar_text *why);

/* The name as an absolute path, since a program may change its folder.  %j is the launcher's job,
 * or the process's id where it names none; %u the user; %h this host; %p the process's id. */
void ar_stats_file_path(char *path, size_t room, const char *name);

/* A name of path that stays right in another folder.  Malloced; NULL without memory. */
char *ar_path_absolute(const char *path);

/* The name of one rank's own file.  For a device or a pipe all ranks have the same name. */
void ar_stats_file_of_rank(char *path, size_t room, const char *of_all, int rank);

/* Does the name end as the names of JSON files do? */
bool ar_stats_file_is_json(const char *name);

#endif
