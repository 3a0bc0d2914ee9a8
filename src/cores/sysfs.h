/* Files in which Linux tells of the machine, a line each.  root is, here and there, the folder that
 * has sys/, proc/ and dev/; "" for this system. */
#ifndef AR_SYSFS_H
#define AR_SYSFS_H

/* The first line of the file that root and the format name, without its end.  Malloced; NULL: it
 * cannot be read, or memory ran out. */
char *ar_sysfs_line(const char *root, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
