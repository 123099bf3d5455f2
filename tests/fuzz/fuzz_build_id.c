/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that processes have mapped: what src/elf reads from one, in the cage. */
#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "elf/build_id.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct build_id id = { .size = 0 };

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	assert(build_id_of_file(fd, &id) == (id.size > 0));
	assert(id.size <= BUILD_ID_MAX);
	return 0;
}
