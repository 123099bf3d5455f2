/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds paths from the end: a dentry's name, then its parent's; at the root of a mount, continues
 * at the mountpoint (fs/d_path.c, fs/mount.h).
 *
 * A dentry that is its own parent but not the root of a mount has a name instead of a path: memfds
 * and shared memory are "/NAME (deleted)" (simple_dname()), anonymous inodes are "anon_inode:NAME".
 * A removed file is no longer in a hash chain (d_unlinked()) and is shown as "PATH (deleted)".
 */
#include "guest/process/path.h"

#include <string.h>

#include "base/memory.h"

#define MAX_STEPS 512 /* names and mounts in one path */
#define MAX_STEPS_OF_ALL (1u << 19)
#define NAME_BYTES 256
#define MINOR_BITS 20 /* include/linux/kdev_t.h */

struct layout {
	struct guest_btf_field file_dentry, file_mount, file_inode;
	struct guest_btf_field name, parent, hash, operations, dentry_inode;
	struct guest_btf_field d_dname;
	struct guest_btf_field mount_root;
	struct guest_btf_field mount_public, mount_parent, mount_point;
	struct guest_btf_field inode_number, super_block, device;
};

#define ROW(structure, path, field) { structure, path, offsetof(struct layout, field), false }

static const struct guest_layout_row layout_rows[] = {
	ROW("file", "f_path.dentry", file_dentry),
	ROW("file", "f_path.mnt", file_mount),
	ROW("file", "f_inode", file_inode),
	ROW("dentry", "d_name.name", name),
	ROW("dentry", "d_parent", parent),
	ROW("dentry", "d_hash.pprev", hash),
	ROW("dentry", "d_op", operations),
	ROW("dentry", "d_inode", dentry_inode),
	ROW("dentry_operations", "d_dname", d_dname),
	ROW("vfsmount", "mnt_root", mount_root),
	ROW("mount", "mnt", mount_public),
	ROW("mount", "mnt_parent", mount_parent),
	ROW("mount", "mnt_mountpoint", mount_point),
	ROW("inode", "i_ino", inode_number),
	ROW("inode", "i_sb", super_block),
	ROW("super_block", "s_dev", device),
	{ 0 },
};

struct guest_path_reader {
	const struct guest_kernel *kernel;
	struct guest_space *space;
	struct layout layout;
	struct gva anon_inode_dname; /* 0: unknown */
	uint32_t steps_left;
};

struct error *guest_path_reader_create(const struct guest_kernel *kernel,
				       struct guest_path_reader **ret)
{
	_cleanup_guest_path_reader_ struct guest_path_reader *reader =
		memory_calloc(1, sizeof(*reader));
	struct error *error;

	reader->kernel = kernel;
	reader->space = guest_kernel_space(kernel);
	error = guest_kernel_layout(kernel, layout_rows, &reader->layout);
	if (error)
		return error;
	guest_kernel_find_symbol(kernel, "anon_inodefs_dname", &reader->anon_inode_dname);
	*ret = take_pointer(reader);
	return NULL;
}

void guest_path_reader_destroy(struct guest_path_reader *reader)
{
	free(reader);
}

static bool field(struct guest_path_reader *reader, uint64_t base, const struct guest_btf_field *at,
		  uint64_t *ret)
{
	return guest_kernel_read_field(reader->kernel, GVA(base), at, ret);
}

static bool read_name(struct guest_path_reader *reader, uint64_t dentry, char *name)
{
	uint64_t at;

	return field(reader, dentry, &reader->layout.name, &at) &&
	       guest_space_read_string(reader->space, GVA(at), name, NAME_BYTES);
}

/* A path built from back to front. */
struct backwards {
	char *buffer;
	size_t start, size;
};

static void prepend(struct backwards *path, const char *text)
{
	size_t length = strlen(text);

	if (length > path->start)
		length = path->start;
	path->start -= length;
	memcpy(path->buffer + path->start, text + strlen(text) - length, length);
}

/* One mount up; false at the topmost root. */
static bool leave_mount(struct guest_path_reader *reader, uint64_t *dentry, uint64_t *mount)
{
	uint64_t outer = *mount - reader->layout.mount_public.offset;
	uint64_t parent, point;

	if (!field(reader, outer, &reader->layout.mount_parent, &parent) || parent == outer ||
	    !field(reader, outer, &reader->layout.mount_point, &point))
		return false;
	*mount = parent + reader->layout.mount_public.offset;
	*dentry = point;
	return true;
}

static void walk_up(struct guest_path_reader *reader, uint64_t dentry, uint64_t mount,
		    struct backwards *path)
{
	char name[NAME_BYTES];
	uint64_t parent, root;

	for (int step = 0; step < MAX_STEPS && path->start && reader->steps_left; step++) {
		reader->steps_left--;
		if (!field(reader, dentry, &reader->layout.parent, &parent) ||
		    !field(reader, mount, &reader->layout.mount_root, &root))
			return;
		if (dentry == root) {
			if (!leave_mount(reader, &dentry, &mount))
				break;
			continue;
		}
		if (dentry == parent || !read_name(reader, dentry, name))
			break;
		prepend(path, name);
		prepend(path, "/");
		dentry = parent;
	}
	if (!reader->steps_left)
		path->start = path->size;
	else if (path->start == path->size)
		prepend(path, "/");
}

/* True if the file system makes up the name of this dentry. */
static bool read_made_up_name(struct guest_path_reader *reader, uint64_t dentry, uint64_t mount,
			      struct backwards *path)
{
	const struct layout *layout = &reader->layout;
	uint64_t operations, function, parent, root;
	char name[NAME_BYTES];

	if (!field(reader, dentry, &layout->operations, &operations) || !operations ||
	    !field(reader, operations, &layout->d_dname, &function) || !function)
		return false;
	/* d_path(): a root dentry that is mounted somewhere has a real path. */
	if (field(reader, dentry, &layout->parent, &parent) &&
	    field(reader, mount, &layout->mount_root, &root) && dentry == parent && dentry == root)
		return false;
	if (!read_name(reader, dentry, name))
		return false;
	if (function == reader->anon_inode_dname.value) {
		prepend(path, name);
		prepend(path, "anon_inode:");
	} else {
		prepend(path, " (deleted)");
		prepend(path, name);
		prepend(path, "/");
	}
	return true;
}

static void read_path(struct guest_path_reader *reader, uint64_t dentry, uint64_t mount, char *ret)
{
	const struct layout *layout = &reader->layout;
	struct backwards path = { ret, GUEST_PATH_BYTES - 1, GUEST_PATH_BYTES - 1 };
	uint64_t parent, hash;

	if (!read_made_up_name(reader, dentry, mount, &path)) {
		if (field(reader, dentry, &layout->parent, &parent) && parent != dentry &&
		    field(reader, dentry, &layout->hash, &hash) && !hash)
			prepend(&path, " (deleted)");
		walk_up(reader, dentry, mount, &path);
	}
	memmove(ret, ret + path.start, path.size - path.start);
	ret[path.size - path.start] = 0;
}

void guest_path_reader_begin(struct guest_path_reader *reader)
{
	reader->steps_left = MAX_STEPS_OF_ALL;
}

static bool read_file(struct guest_path_reader *reader, uint64_t dentry, uint64_t mount,
		      uint64_t inode, struct guest_file *ret)
{
	const struct layout *layout = &reader->layout;
	uint64_t super_block, device;

	if (!field(reader, inode, &layout->inode_number, &ret->inode) ||
	    !field(reader, inode, &layout->super_block, &super_block) ||
	    !field(reader, super_block, &layout->device, &device))
		return false;
	ret->device_major = device >> MINOR_BITS;
	ret->device_minor = device & ((1u << MINOR_BITS) - 1);
	read_path(reader, dentry, mount, ret->path);
	return true;
}

bool guest_file_read(struct guest_path_reader *reader, struct gva file, struct guest_file *ret)
{
	const struct layout *layout = &reader->layout;
	uint64_t dentry, mount, inode;

	return field(reader, file.value, &layout->file_dentry, &dentry) &&
	       field(reader, file.value, &layout->file_mount, &mount) &&
	       field(reader, file.value, &layout->file_inode, &inode) &&
	       read_file(reader, dentry, mount, inode, ret);
}

bool guest_file_read_at(struct guest_path_reader *reader, struct gva dentry, struct gva mount,
			struct gva inode, struct guest_file *ret)
{
	uint64_t now;

	return field(reader, dentry.value, &reader->layout.dentry_inode, &now) &&
	       now == inode.value &&
	       read_file(reader, dentry.value, mount.value, inode.value, ret);
}
