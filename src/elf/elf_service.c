/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/elf_service.h"

#include <string.h>
#include <unistd.h>

#include "elf/elf_wire.h"
#include "walls/messages.h"

static bool answer(int fd, int file)
{
	struct build_id id = { .size = 0 };
	struct elf_answer answer = { .bytes = 0 };

	(void)build_id_of_file(file, &id);
	answer.bytes = id.size;
	memcpy(answer.build_id, id.bytes, id.size);
	return message_send_all(fd, &answer, sizeof(answer));
}

void elf_service_run(int fd)
{
	uint8_t word = ELF_READY;
	bool goes_on = message_send_all(fd, &word, sizeof(word));
	int file;

	while (goes_on && message_receive(fd, &word, sizeof(word), &file)) {
		goes_on = word == ELF_ASK_BUILD_ID && file >= 0 && answer(fd, file);
		if (file >= 0)
			close(file);
	}
}
