/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What %p prints, by the letters after it (Documentation/core-api/printk-formats.rst): functions
 * (%ps, %pS), addresses of networks (%pM, %pI4, %pI6, %pIS), UUIDs (%pU) and bytes (%ph). All but
 * functions and plain pointers are fields, whose size must be right.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>

#include "tracepoint/print_program.h"

/* The letters that belong to the pointer, as libtraceevent has them. */
static size_t network_length(const char *text)
{
	size_t length = 2;

	if (text[1] != '4' && text[1] != '6' && text[1] != 'S')
		return 1;
	if (text[1] == 'S')
		length += strspn(text + length, "pfs");
	if (text[1] != '6')
		length += text[length] && strchr("hnlb", text[length]);
	if (text[1] != '4')
		length += text[length] == 'c';
	return length;
}

size_t trace_pointer_length(const char *text)
{
	switch (*text) {
	case 'F':
	case 'f':
	case 'S':
	case 's':
		return 1;
	case 'M':
	case 'm':
		return 1 + (text[1] == 'R' || text[1] == 'F');
	case 'I':
	case 'i':
		return network_length(text);
	case 'U':
		return 1 + (text[1] && strchr("LlBb", text[1]));
	case 'h':
		return 1 + (text[1] && strchr("CDN", text[1]));
	default:
		return 0;
	}
}

bool trace_pointer_supported(const struct trace_print *print, const struct trace_piece *piece)
{
	const struct trace_node *node = trace_uncast(print, piece->node);

	switch (*piece->spec) {
	case 'M':
	case 'm':
	case 'U':
		return node->kind == TRACE_FIELD;
	case 'I':
	case 'i':
		return node->kind == TRACE_FIELD ||
		       (node->kind == TRACE_BYTES && piece->spec[1] == 'S');
	case 'h':
		return node->kind == TRACE_FIELD || node->kind == TRACE_BYTES;
	default:
		return true;
	}
}

static void append_function(const struct trace_output *output, char letter, uint64_t address)
{
	const struct trace_functions *functions = output->functions;
	uint64_t start = 0;
	const char *name = functions ? functions->find(functions->data, address, &start) : NULL;

	if (!name) {
		buffer_printf(output->out, "0x%" PRIx64, address);
		return;
	}
	buffer_append_string(output->out, name);
	if (letter == 'F' || letter == 'S')
		buffer_printf(output->out, "+0x%" PRIx64, address - start);
}

static void append_mac(struct buffer *out, const char *letters, const uint8_t *data, size_t bytes)
{
	bool reverse = letters[0] && letters[1] == 'R';
	const char *delimiter = *letters == 'm' ? "" : letters[1] == 'F' ? "-" : ":";

	if (bytes != 6) {
		buffer_append_string(out, "INVALIDMAC");
		return;
	}
	for (size_t i = 0; i < 6; i++)
		buffer_printf(out, "%s%02x", i ? delimiter : "", data[reverse ? 5 - i : i]);
}

static void append_uuid(struct buffer *out, char letter, const uint8_t *data, size_t bytes)
{
	static const uint8_t little[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	bool is_little = letter == 'L' || letter == 'l', upper = letter == 'L' || letter == 'B';

	if (bytes != 16) {
		buffer_append_string(out, "INVALIDUUID");
		return;
	}
	for (size_t i = 0; i < 16; i++) {
		uint8_t byte = data[is_little ? little[i] : i];

		buffer_printf(out, upper ? "%02X" : "%02x", byte);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			buffer_append_u8(out, '-');
	}
}

/* %pi4 has leading zeros; 'h' is the host's byte order, 'l' little endian. */
static void append_ipv4(const struct trace_output *output, char i, char order, const uint8_t *data)
{
	bool big = output->payload->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	bool reverse = order == 'l' || (order == 'h' && !big);

	for (size_t byte = 0; byte < 4; byte++)
		buffer_printf(output->out, i == 'i' ? "%s%03d" : "%s%d", byte ? "." : "",
			      data[reverse ? 3 - byte : byte]);
}

/* ISATAP addresses are printed like those of IPv4, unlike by inet_ntop(). */
static bool is_isatap(const uint8_t *data)
{
	return (data[8] | 2) == 2 && !data[9] && data[10] == 0x5e && data[11] == 0xfe;
}

static void append_ipv6_short(const struct trace_output *output, const uint8_t *data)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
	bool with_ipv4 = !memcmp(data, mapped, 12) || is_isatap(data);
	size_t words = with_ipv4 ? 6 : 8, gap = words, longest = 1;
	bool colon = false;

	for (size_t i = 0; i < words; i++) {
		size_t zeros = 0;

		while (i + zeros < words && !data[2 * (i + zeros)] && !data[2 * (i + zeros) + 1])
			zeros++;
		if (zeros > longest) {
			longest = zeros;
			gap = i;
		}
	}
	for (size_t i = 0; i < words; i++) {
		if (i == gap) {
			buffer_append_string(output->out, colon || !i ? "::" : ":");
			colon = false;
			i += longest - 1;
			continue;
		}
		buffer_printf(output->out, "%s%x", colon ? ":" : "",
			      data[2 * i] << 8 | data[2 * i + 1]);
		colon = true;
	}
	if (with_ipv4) {
		buffer_append_string(output->out, colon ? ":" : "");
		append_ipv4(output, 'I', 0, data + 12);
	}
}

static void append_ipv6(const struct trace_output *output, char i, bool is_short,
			const uint8_t *data)
{
	if (is_short) {
		append_ipv6_short(output, data);
		return;
	}
	for (size_t byte = 0; byte < 16; byte += 2)
		buffer_printf(output->out, "%s%02x%02x", byte && i == 'I' ? ":" : "", data[byte],
			      data[byte + 1]);
}

/* A struct sockaddr; LETTERS are those after "IS". */
static void append_socket(const struct trace_output *output, char i, const char *letters,
			  const uint8_t *data, size_t bytes)
{
	size_t with_port = i == 'I' && *letters == 'p';
	bool is_short = i == 'I' && letters[with_port] == 'c';
	char order = letters[with_port + is_short];
	struct trace_payload part = *output->payload;
	uint64_t family;
	int port;

	part.data = data;
	part.bytes = bytes;
	if (bytes < 4 || !trace_read_number(&part, 0, 2, &family))
		return;
	port = data[2] << 8 | data[3];
	if (family == AF_INET && bytes < sizeof(struct sockaddr_in)) {
		buffer_append_string(output->out, "INVALIDIPv4");
	} else if (family == AF_INET) {
		append_ipv4(output, i, order, data + 4);
		if (with_port)
			buffer_printf(output->out, ":%d", port);
	} else if (family == AF_INET6 && bytes < sizeof(struct sockaddr_in6)) {
		buffer_append_string(output->out, "INVALIDIPv6");
	} else if (family == AF_INET6) {
		buffer_append_string(output->out, with_port ? "[" : "");
		append_ipv6(output, i, is_short, data + 8);
		if (with_port)
			buffer_printf(output->out, "]:%d", port);
	}
}

static void append_network(const struct trace_output *output, const char *letters,
			   const uint8_t *data, size_t bytes)
{
	if (letters[1] == '4' && bytes != 4)
		buffer_append_string(output->out, "INVALIDIPv4");
	else if (letters[1] == '4')
		append_ipv4(output, *letters, letters[2], data);
	else if (letters[1] == '6' && bytes != 16)
		buffer_append_string(output->out, "INVALIDIPv6");
	else if (letters[1] == '6')
		append_ipv6(output, *letters, *letters == 'I' && letters[2] == 'c', data);
	else if (letters[1] == 'S')
		append_socket(output, *letters, letters + 2, data, bytes);
}

static void append_bytes(struct buffer *out, char letter, const uint8_t *data, size_t bytes,
			 int length)
{
	const char *delimiter = letter == 'C' ? ":" :
				letter == 'D' ? "-" :
				letter == 'N' ? "" :
						" ";

	for (size_t i = 0; i < bytes && (int)i < length; i++)
		buffer_printf(out, "%s%02x", i ? delimiter : "", data[i]);
}

void trace_append_pointer(const struct trace_output *output, const struct trace_piece *piece,
			  int length)
{
	const struct trace_node *node = trace_uncast(output->print, piece->node);
	const char *letters = piece->spec;
	const uint8_t *data = NULL;
	uint64_t value;
	size_t bytes = 0;

	if (node->field)
		data = trace_node_bytes(output, node, &bytes);
	switch (*letters) {
	case 'F':
	case 'f':
	case 'S':
	case 's':
		append_function(output, *letters, trace_evaluate(output, piece->node));
		break;
	case 'M':
	case 'm':
		append_mac(output->out, letters, data, bytes);
		break;
	case 'U':
		append_uuid(output->out, letters[1], data, bytes);
		break;
	case 'I':
	case 'i':
		append_network(output, letters, data, bytes);
		break;
	case 'h':
		append_bytes(output->out, letters[1], data, bytes, length);
		break;
	default:
		value = trace_evaluate(output, piece->node);
		buffer_printf(output->out, value ? "0x%" PRIx64 : "(nil)", value);
	}
}
