/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/frame_table.h"
#include "output/view.h"

void frame_table_write(struct json *json, const struct export_input *input, bool modes)
{
	const struct calltree *tree = input->profile->tree;
	_cleanup_buffer_ struct buffer name;

	buffer_init(&name, (size_t)1 << 20);
	json_open_array(json, "frames");
	for (uint32_t i = 0; i < tree->frames.count; i++) {
		buffer_clear(&name);
		stack_append_function(&name, input, i);
		buffer_append_u8(&name, 0);
		json_open_object(json, NULL);
		json_string(json, modes ? "function" : "name", (const char *)name.data);
		json_string(json, modes ? "module" : "file", stack_module(input, i));
		if (modes)
			json_string(json, "mode",
				    view_mode_words(tree->frames.items[i].cpumode &
						    ~CPUMODE_GUESSED));
		json_close(json);
	}
	json_close(json);
}
