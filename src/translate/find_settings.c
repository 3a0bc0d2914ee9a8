/* Settings of MPI libraries in job scripts, module files and parameter files: a name that is known,
 * and behind it a value in any of the spellings that shells, launchers and modules have. */
#include <fnmatch.h>
#include <string.h>

#include "translate/translate.h"

/* --- which names --- */

/* Those that are about allreduces, and which no rules stand for. */
static const struct {
    const char *pattern, *why;
} without_rules[] = {
    {"*IALLREDUCE*", "nonblocking allreduces are left to the MPI library"},
    {"*ALLREDUCE_INTER_ALGORITHM", "calls on intercommunicators are left to the MPI library"},
    {"*ALLREDUCE_POSIX_INTRA_ALGORITHM",
     "it is for the shared memory of MPICH itself, in whose place auto runs shm"},
    {"*ALLREDUCE_DEVICE_COLLECTIVE",
     "it says which layer of MPICH chooses, and names no algorithm"},
    {"*ALLREDUCE_SHORT_MSG_SIZE",
     "up to this size old versions of MPICH run recursive doubling, and above Rabenseifner's "
     "algorithm: butterfly:0-SIZE;rhd"},
    {"*ALLREDUCE_RECEXCH_KVAL", "knomial has it as its parameter radix"},
    {"*SMP_ALLREDUCE*", "two_level is what treats a node apart"},
    {"MPIR_*ALLREDUCE*", "it is a parameter of algorithms of MPICH's, and names none"},
    {"MPICH_*ALLREDUCE*", "it is a parameter of algorithms of Cray MPICH's, and names none"},
    {"MV2_*ALLREDUCE*", "MVAPICH's algorithms within and between nodes have no names that we know"},
    {"MVP_*ALLREDUCE*", "MVAPICH's algorithms within and between nodes have no names that we know"},
    {"HCOLL_*", "hcoll reduces in the network or by algorithms that have no names"},
    {"HOROVOD_*", "Horovod cuts and joins tensors before it calls MPI_Allreduce"},
    {"UCC_TL_UCP_ALLREDUCE_SRA_KN_RADIX", "rhd halves the vector, whatever the radix is there"},
    {"*coll_tuned_allreduce_algorithm_segmentsize",
     "segmented_ring has it as its parameter segment"},
    {"*coll_tuned_allreduce_algorithm_*", "no allreduce of Open MPI uses it"},
    {"*coll_han_allreduce*", "it names components of Open MPI, and no algorithm"},
    {"I_MPI_ADJUST_ALLREDUCE_*", "it is a parameter of algorithms of Intel MPI's, and names none"},
};

/* Why a setting that is no library's variable has no translation; NULL: it is about something else.
 */
static const char *
why_without_rules(struct ar_word name)
{
    char text[128];
    if (name.length >= sizeof text || strncmp(name.at, "ALLREDUCE_", 10) == 0)
        return NULL;
    memcpy(text, name.at, name.length);
    text[name.length] = '\0';
    for (size_t i = 0; i < sizeof without_rules / sizeof without_rules[0]; i++)
        if (fnmatch(without_rules[i].pattern, text, 0) == 0)
            return without_rules[i].why;
    return fnmatch("*_ALLREDUCE*", text, 0) == 0 || fnmatch("*coll_*allreduce*", text, 0) == 0
               ? "convert does not know this setting"
               : NULL;
}

/* The name without what a container's launcher puts before it. */
static struct ar_word
name_inside(struct ar_word name)
{
    static const char *const before[] = {"SINGULARITYENV_", "APPTAINERENV_"};
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(before[i]);
        if (name.length > length && memcmp(name.at, before[i], length) == 0)
            return (struct ar_word){name.at + length, name.length - length};
    }
    return name;
}

/* --- how they are written --- */

static bool
is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || ar_is_digit(c);
}

/* Behind blanks, and line ends with a '\' before them. */
static const char *
skip_blanks(const char *at)
{
    for (;;) {
        at += strspn(at, " \t");
        if (*at != '\\' || at[1 + (at[1] == '\r')] != '\n')
            return at;
        at += 2 + (at[1] == '\r');
    }
}

/* Does a comment begin here?  Lines for a batch system are none. */
static bool
is_comment(const struct ar_foreign_settings *in)
{
    static const char *const directives[] = {"SBATCH", "PBS",  "BSUB", "PJM", "COBALT",
                                             "FLUX",   "flux", "$",    "@"};
    const char before = in->at > in->text ? in->at[-1] : '\n';
    if (strncmp(in->at, "-- ", 3) == 0)
        return before == '\n';
    if (*in->at != '#' || in->quote || !strchr(" \t\n", before))
        return false;
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++)
        if (strncmp(in->at + 1, directives[i], strlen(directives[i])) == 0)
            return false;
    return true;
}

/* May name and value stand with a blank between them behind this word? */
static bool
takes_two_words(struct ar_word word, const char *name)
{
    static const char *const words[] = {"setenv", "pushenv", "genv", "env",
                                        "mca",    "gmca",    "omca", NULL};
    return word.at && skip_blanks(word.at + word.length) == name && ar_word_among(word, words) >= 0;
}

/* Does another NAME=VALUE follow the comma? */
static bool
is_next_in_list(const char *comma)
{
    const char *c = comma + 1;
    while (is_word_char(*c))
        c++;
    return c > comma + 1 && *c == '=';
}

/* The end of a value: a blank or what ends a command, and in quotes only these.  is_all: the
 * setting begins the text, which may be no command. */
static const char *
end_of_word(const char *at, char quote, bool is_all)
{
    while (*at && *at != '\n' && *at != quote && !(*at == ',' && is_next_in_list(at))) {
        const bool is_blank = strchr(" \t\r)&|", *at) && !(is_all && at[-1] == ';');
        const bool is_end = *at == ';' && strchr(" \t\r\n", at[1]) && !is_all;
        if (!quote && (is_blank || is_end))
            break;
        at++;
    }
    return at;
}

enum extent { WORD, ALL, LINE };

/* The value there: in quotes, in the quotes that the name is in, to the end of the line, or one
 * word. */
static struct ar_word
read_value(const struct ar_foreign_settings *in, const char *at, enum extent extent)
{
    const char *end;
    if (!in->quote && (*at == '"' || *at == '\'')) {
        const char *const closing = strchr(at + 1, *at);
        end = closing ? closing : at + strcspn(at, "\n");
        return (struct ar_word){at + 1, (size_t)(end - at - 1)};
    }
    if (!in->quote && extent == LINE)
        return ar_word_next(&at, "\r\n");
    end = end_of_word(at, in->quote, extent == ALL);
    return (struct ar_word){at, (size_t)(end - at)};
}

/* Takes the setting whose name stands at in->at. */
static bool
take_setting(struct ar_foreign_settings *in, struct ar_word name, struct ar_foreign_setting *found)
{
    const char *at = name.at + name.length;
    const char *const before = name.at > in->text ? name.at - 1 : " ";
    const bool is_quoted = in->quote && *at == in->quote;
    if (*before == '$' || (*before == '{' && before > in->text && before[-1] == '$'))
        return false;
    if (is_quoted) {
        in->quote = '\0';
        at++;
    }
    at += *at == ']';
    const char *const separator = skip_blanks(at);
    enum extent extent = separator > at ? LINE : name.at == in->text ? ALL : WORD;
    if (*separator == '=' && separator[1] != '=') {
        at = skip_blanks(separator + 1);
    } else if ((*separator == ',' && is_quoted) || (*separator == ':' && separator[1] == ' ')) {
        at = skip_blanks(separator + 1);
        extent = *separator == ':' ? LINE : WORD;
    } else if (separator > at && takes_two_words(in->before, name.at)) {
        at = separator;
        extent = WORD;
    } else {
        return false;
    }
    found->value = read_value(in, at, extent);
    in->at = found->value.at + found->value.length;
    return found->value.length > 0;
}

/* Takes the word at in->at; true if it names a setting that has a value. */
static bool
take_word(struct ar_foreign_settings *in, struct ar_foreign_setting *found)
{
    struct ar_word word = {in->at, 0};
    while (is_word_char(word.at[word.length]))
        word.length++;
    in->at += word.length;
    found->name = name_inside(word);
    found->library = ar_library_of_variable(found->name);
    found->why = found->library == AR_LIBRARIES ? why_without_rules(found->name) : NULL;
    found->line = in->line;
    const bool is_known = found->library < AR_LIBRARIES || found->why;
    const bool is_found = is_known && take_setting(in, word, found);
    in->before = word;
    return is_found;
}

bool
ar_foreign_setting_next(struct ar_foreign_settings *in, struct ar_foreign_setting *found)
{
    while (*in->at) {
        const char c = *in->at;
        if (is_word_char(c)) {
            if (take_word(in, found))
                return true;
            continue;
        }
        if (is_comment(in)) {
            in->at += strcspn(in->at, "\n");
            continue;
        }
        if (c == '\n') {
            in->line++;
            in->quote = '\0';
        } else if (in->quote ? c == in->quote : c == '"' || c == '\'') {
            in->quote = in->quote ? '\0' : c;
        }
        in->at++;
    }
    return false;
}
