# SPDX-License-Identifier: GPL-2.0-or-later
# COMMAND: it is the one on this line
function __perfvisor_uses
	set -l words (commandline -opc)
	test "$words[2]" = $argv[1]
end
function __perfvisor_starts
	test (count (commandline -opc)) = 1
end
# WORDS: after a comma, the next word of a list
function __perfvisor_words
	set -l typed (commandline -ct | string replace -r '^--[^=]*=' '')
	set -l before (string match -r '^.*,' -- "$typed")
	for word in (string split ' ' -- $argv[1])
		echo "$before"$word
	end
end
