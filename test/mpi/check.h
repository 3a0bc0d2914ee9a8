/* CHECK(condition, format, ...): counts and prints failures; check_status() is
 * main's result. */
#ifndef AR_TEST_CHECK_H
#define AR_TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>

static unsigned long check_failures, check_count;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        check_count++;                                                                             \
        if (!(condition) && check_failures++ < 40) {                                               \
            printf("%s:%d: not (%s): ", __FILE__, __LINE__, #condition);                           \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

static int
check_status(void)
{
    printf("%lu checks, %lu failed\n", check_count, check_failures);
    return check_failures == 0 && check_count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
