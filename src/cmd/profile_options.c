/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/profile_options.h"

#include <string.h>

#include "base/memory.h"

struct error *profile_options_parse_keys(const char *text, struct sample_texts *texts,
					 struct profile_keys *ret)
{
	_cleanup_free_ char *copy = memory_strdup(text);
	char *rest = copy, *word;
	struct error *error = NULL;

	ret->count = 0;
	while (!error && (word = strsep(&rest, ","))) {
		enum profile_key key;

		error = sample_texts_find_key(texts, "--sort", "", word, &key);
		if (!error)
			profile_keys_add(ret, key);
	}
	return error;
}
