/* Other libraries' settings: whatever is translated is a text that the grammar takes.  The first
 * byte of the input says which library; Open MPI's may be JSON. */
#include <config.h>

#include "fuzz.h"
#include "translate/translate.h"

/* To rules, and from these to all other libraries. */
static void
try_rules(const char *text)
{
    struct ar_rules *rules = NULL;
    struct ar_problem problem = {0};
    FUZZ_EXPECT(ar_rules_parse_lines(&rules, text, &problem) == AR_OK);
    for (int library = 0; library < AR_LIBRARIES; library++) {
        struct ar_translation there;
        const int error = ar_translate_to(&there, (enum ar_foreign)library, rules, &problem);
        FUZZ_EXPECT(error == AR_OK || error == AR_ERR_SYNTAX);
        if (!error)
            ar_translation_fini(&there);
    }
    ar_rules_destroy(rules);
}

bool fuzz_is_taken;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ar_translation here;
    struct ar_problem problem = {0};
    if (size == 0)
        return 0;
    const enum ar_foreign library = (enum ar_foreign)(data[0] % AR_LIBRARIES);
    char *const text = fuzz_text(data + 1, size - 1);
    struct ar_foreign_settings in = {.text = text, .at = text, .line = 1};
    struct ar_foreign_setting setting;
    while (ar_foreign_setting_next(&in, &setting))
        FUZZ_EXPECT(setting.value.length > 0 && setting.value.at > setting.name.at);
    const int error = library == AR_LIBRARY_OPENMPI && ar_openmpi_is_json(text)
                          ? ar_openmpi_translate_json(&here, text, &problem)
                          : ar_translate_from(&here, library, text, 0, &problem);
    FUZZ_EXPECT(error == AR_OK || (error == AR_ERR_SYNTAX && problem.text[0]));
    fuzz_is_taken = error == AR_OK;
    if (!error) {
        try_rules(here.text);
        ar_translation_fini(&here);
    }
    free(text);
    return 0;
}
