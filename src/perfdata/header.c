/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The header of a recording: byte order, form, events with their ids, and the locations of the
 * records and the features.
 *
 * Source: tools/perf/util/header.c (perf_session__read_header(), perf_file_header__read()). The
 * attrs are read in steps of the header's attr_size, with the id section in each entry's last 16
 * bytes, so attrs of any ABI size can be read, even newer ones.
 *
 * A recorder that is killed leaves data.size 0 (perf writes it at the end) or the size at its last
 * flush, and no features: the records then extend to the end of the file. A finished recording
 * without records has data.size 0, too; it is recognised by its feature sections, which must begin
 * right after their table.
 *
 * Not supported: "PERFFILE", the format before Linux 3.5 (2012).
 */
#include <string.h>

#include "base/cursor.h"
#include "perfdata/reader_state.h"

/* Headers once ended before the feature bits. */
#define HEADER_WITHOUT_FEATURES_BYTES offsetof(struct format_header, features)
#define ATTR_ENTRY_MAX_BYTES 4096

static struct error *not_perf_data(const struct perfdata_reader *reader, uint64_t magic)
{
	struct error *error =
		error_create(ERROR_BAD_DATA, "'%s' is not a perf.data file", reader->name);
	char start[sizeof(magic)];
	bool text = true;

	memcpy(start, &magic, sizeof(magic));
	for (size_t i = 0; i < sizeof(start); i++)
		text &= (start[i] >= ' ' && start[i] <= '~') || start[i] == '\n' ||
			start[i] == '\t';
	if (text)
		return error_hint(error, "it is text; 'perfvisor record' or 'perf record' makes a "
					 "recording, with -o - into a pipe");
	return error_hint(error, "use 'perfvisor record' or 'perf record' to create one");
}

static struct error *find_byte_order(struct perfdata_reader *reader, uint64_t magic)
{
	if (magic == FORMAT_MAGIC_OLD || magic == __builtin_bswap64(FORMAT_MAGIC_OLD))
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' was recorded by a perf older than Linux 3.5",
				    reader->name);
	if (magic != FORMAT_MAGIC && magic != __builtin_bswap64(FORMAT_MAGIC))
		return not_perf_data(reader, magic);
	reader->swap = magic != FORMAT_MAGIC;
	return NULL;
}

static struct format_section read_section(struct cursor *cursor)
{
	struct format_section section;

	section.offset = cursor_u64(cursor);
	section.size = cursor_u64(cursor);
	return section;
}

static bool section_fits(const struct mapped_file *file, struct format_section section)
{
	return section.offset <= file->size && section.size <= file->size - section.offset;
}

#define FEATURE_IS_SET(features, bit) ((features)[(bit) / 64] >> (bit) % 64 & 1)

/*
 * The feature bits are an array of unsigned longs of the recording machine. In the other byte
 * order, nothing shows whether those had 32 or 64 bits, but HOSTNAME is always set.
 */
static void read_feature_bits(struct cursor *cursor, uint64_t features[4])
{
	uint64_t bits[4];

	for (int i = 0; i < 4; i++)
		features[i] = bits[i] = cursor_u64(cursor);
	if (!cursor->swap || FEATURE_IS_SET(bits, FEATURE_HOSTNAME))
		return;
	for (int i = 0; i < 4; i++)
		bits[i] = bits[i] << 32 | bits[i] >> 32;
	if (FEATURE_IS_SET(bits, FEATURE_HOSTNAME))
		memcpy(features, bits, sizeof(bits));
}

static struct error *read_file_header(struct perfdata_reader *reader, struct cursor *cursor,
				      struct format_header *ret)
{
	struct format_header header = { 0 };

	header.magic = cursor_u64(cursor);
	header.size = cursor_u64(cursor);
	header.attr_size = cursor_u64(cursor);
	header.attrs = read_section(cursor);
	header.data = read_section(cursor);
	header.event_types = read_section(cursor);
	if (header.size == sizeof(header))
		read_feature_bits(cursor, header.features);
	else if (header.size != HEADER_WITHOUT_FEATURES_BYTES)
		return error_create(ERROR_BAD_DATA,
				    "'%s': its header gives its own size as %llu bytes",
				    reader->name, (unsigned long long)header.size);
	if (cursor->failed)
		return error_create(ERROR_BAD_DATA, "'%s' ends within its header", reader->name);
	*ret = header;
	return NULL;
}

static struct error *read_ids(struct perfdata_reader *reader, size_t event_index,
			      struct format_section section)
{
	const struct mapped_file *file = &reader->files.items[0];
	struct cursor cursor;

	if (!section_fits(file, section))
		return error_create(ERROR_BAD_DATA,
				    "'%s': the ids of event %zu lie outside the file", reader->name,
				    event_index);
	cursor = cursor_make(file->data + section.offset, section.size, reader->swap);
	while (cursor_left(&cursor) >= sizeof(uint64_t))
		if (!perfdata_ids_add(reader, event_index, cursor_u64(&cursor)))
			return error_create(ERROR_BAD_DATA, "'%s' has more than %zu ids",
					    reader->name, READER_MAX_IDS);
	return NULL;
}

/* One entry: a perf_event_attr that contains its own size, and the section of its ids. */
static struct error *read_attr(struct perfdata_reader *reader, const uint8_t *entry,
			       size_t entry_bytes, size_t *total_id_bytes)
{
	size_t room = entry_bytes - sizeof(struct format_section);
	struct cursor at_size = cursor_make(entry + 4, 4, reader->swap);
	struct cursor at_ids = cursor_make(entry + room, sizeof(struct format_section),
					   reader->swap);
	struct format_section ids = read_section(&at_ids);
	size_t bytes = cursor_u32(&at_size);
	struct perf_event_attr attr;

	/* perf once wrote 0 here. */
	if (bytes < PERF_ATTR_SIZE_VER0)
		bytes = PERF_ATTR_SIZE_VER0;
	if (bytes > room)
		bytes = room;
	perfdata_attr_decode(entry, bytes, reader->swap, &attr);
	if (!perfdata_ids_add_event(reader, &attr))
		return error_create(ERROR_BAD_DATA, "'%s' has more than %d events", reader->name,
				    READER_MAX_EVENTS);
	/* Ids do not overlap in a real file; in a hostile one they could, thousands of times. */
	if (ids.size > reader->files.items[0].size - *total_id_bytes)
		return error_create(ERROR_BAD_DATA, "'%s' lists more ids than the file can hold",
				    reader->name);
	*total_id_bytes += ids.size;
	return read_ids(reader, reader->events.count - 1, ids);
}

static struct error *read_attrs(struct perfdata_reader *reader, const struct format_header *header)
{
	const struct mapped_file *file = &reader->files.items[0];
	size_t total_id_bytes = 0;

	if (header->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct format_section) ||
	    header->attr_size > ATTR_ENTRY_MAX_BYTES)
		return error_create(ERROR_BAD_DATA, "'%s': its events are %llu bytes each",
				    reader->name, (unsigned long long)header->attr_size);
	if (!section_fits(file, header->attrs))
		return error_create(ERROR_BAD_DATA,
				    "'%s': its list of events lies outside the file", reader->name);
	for (uint64_t at = 0; at + header->attr_size <= header->attrs.size;
	     at += header->attr_size) {
		struct error *error = read_attr(reader, file->data + header->attrs.offset + at,
						header->attr_size, &total_id_bytes);

		if (error)
			return error;
	}
	if (!reader->events.count)
		return error_create(ERROR_BAD_DATA, "'%s' lists no events", reader->name);
	return NULL;
}

static unsigned count_features(const uint64_t features[4])
{
	unsigned count = 0;

	for (int i = 0; i < 4; i++)
		count += __builtin_popcountll(features[i]);
	return count;
}

/* The table of feature sections after the records; false if it does not fit in the file. */
static bool feature_table(const struct perfdata_reader *reader, const struct format_header *header,
			  struct cursor *ret)
{
	const struct mapped_file *file = &reader->files.items[0];
	uint64_t offset;

	if (__builtin_add_overflow(header->data.offset, header->data.size, &offset))
		return false;
	if (!section_fits(file, (struct format_section){
					offset, count_features(header->features) *
							sizeof(struct format_section) }))
		return false;
	*ret = cursor_make(file->data + offset,
			   count_features(header->features) * sizeof(struct format_section),
			   reader->swap);
	return true;
}

/* True if a recording with data.size 0 is finished but has no records. */
static bool finished_without_records(const struct perfdata_reader *reader,
				     const struct format_header *header)
{
	struct cursor table;
	struct format_section first;

	if (!count_features(header->features) || !feature_table(reader, header, &table))
		return false;
	first = read_section(&table);
	return first.offset == header->data.offset + table.size &&
	       section_fits(&reader->files.items[0], first);
}

static void read_features(struct perfdata_reader *reader, const struct format_header *header)
{
	const struct mapped_file *file = &reader->files.items[0];
	struct cursor table;

	if (!count_features(header->features))
		return;
	reader->finished = true;
	if (!feature_table(reader, header, &table)) {
		reader->header_truncated = true;
		return;
	}
	for (unsigned bit = 0; bit < FORMAT_FEATURE_BITS; bit++) {
		struct format_section section;

		if (!FEATURE_IS_SET(header->features, bit))
			continue;
		section = read_section(&table);
		if (section_fits(file, section))
			perfdata_feature_take(reader, bit, file->data + section.offset,
					      section.size);
		else
			reader->header_truncated = true;
	}
}

static void add_records(struct perfdata_reader *reader, uint64_t offset, uint64_t size)
{
	const struct mapped_file *file = &reader->files.items[0];

	if (offset > file->size || size > file->size - offset) {
		reader->header_truncated = true;
		offset = offset < file->size ? offset : file->size;
		size = file->size - offset;
	}
	vector_append(&reader->spans, (struct reader_span){ .data = file->data + offset,
							    .size = size,
							    .file_offset = offset,
							    .name = reader->name });
}

struct error *perfdata_header_read(struct perfdata_reader *reader)
{
	const struct mapped_file *file = &reader->files.items[0];
	struct cursor cursor = cursor_make(file->data, file->size, false);
	struct format_header header;
	struct error *error;
	uint64_t size;

	if (file->size < sizeof(struct format_pipe_header))
		return not_perf_data(reader, 0);
	error = find_byte_order(reader, cursor_u64(&cursor));
	if (error)
		return error;
	cursor.swap = reader->swap;
	size = cursor_u64(&cursor);
	if (size == sizeof(struct format_pipe_header)) {
		reader->pipe_form = true;
		add_records(reader, size, file->size - size);
		return NULL;
	}
	cursor.offset = 0;
	error = read_file_header(reader, &cursor, &header);
	if (!error)
		error = read_attrs(reader, &header);
	if (error)
		return error;
	reader->features.data_offset = header.data.offset;
	reader->features.data_bytes = header.data.size;
	if (header.data.size || finished_without_records(reader, &header)) {
		add_records(reader, header.data.offset, header.data.size);
		read_features(reader, &header);
		return NULL;
	}
	reader->header_truncated = true;
	add_records(reader, header.data.offset,
		    header.data.offset < file->size ? file->size - header.data.offset : 0);
	return NULL;
}
