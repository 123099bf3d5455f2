/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The caged parser's side of line_wire.h. */
#ifndef LINES_LINE_SERVICE_H
#define LINES_LINE_SERVICE_H

/* Answers questions from FD until its other end is closed, or says something wrong. */
void line_service_run(int fd);

#endif
