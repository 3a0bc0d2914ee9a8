/* A page of HTML in one file, which needs nothing from the network.  It has a document of JSON,
 * which the style and the scripts of src/page draw in a browser, and a text for readers without
 * scripts. */
#ifndef AR_PAGE_H
#define AR_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Letters of text, with those escaped that mean something to HTML or XML. */
void ar_html_escape(FILE *to, const char *text, size_t length);

/* What prints a part of a page on stdout, from what it is given.  False without memory. */
typedef bool ar_page_print(const void *what);

/* Writes the page into path: the text, and the document that is drawn by this script of src/page.
 * An enum ar_exit, having said why it failed; then there is no page. */
int ar_page_write(const char *path, const char *script, ar_page_print *text,
                  ar_page_print *document, const void *what);

#endif
