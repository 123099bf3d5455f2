# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# KIND: files or folders; readline quotes them
_perfvisor_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
	COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}
# After a comma, the next word of a list.
_perfvisor_words() {
	local word before=
	[[ $current != *,* ]] || before=${current%,*},
	for word in $1; do
		word=$before$word
		[[ $word != "$current"* ]] || COMPREPLY+=("${word#"$kept"}")
	done
}
# Names of VMs are other people's words: they are compared and quoted, and nothing expands them.
# readline ends an open quote; it holds the names in which nothing is special there.
_perfvisor_vms() {
	local name quoted typed=$current special=
	case $current in
	\'*) special=\' typed=${current:1} ;;
	\"*) special='"$`\!' typed=${current:1} ;;
	esac
	while IFS= read -r name; do
		if [[ $special ]]; then
			[[ $name == *["$special"]* ]] && continue
			quoted=$name
		else
			printf -v quoted %q "$name"
		fi
		[[ $quoted != "$typed"* && $name != "$typed"* || $quoted != "$kept"* ]] ||
			COMPREPLY+=("${quoted#"$kept"}")
	done < <(_perfvisor_vm_names)
}
_perfvisor() {
	local words=() word before rest=$COMP_LINE current previous command kept
	COMPREPLY=()
	# readline takes words apart at : and =, and replaces the last part.
	for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
		before=${rest%%"$word"*}
		[[ $word ]] || before=$rest
		rest=${rest#"$before$word"}
		if [[ ${words[*]} && ! $before && ($word == [:=]* || ${words[-1]} == *[:=]) ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
	done
	command=${words[1]} previous=${words[-2]} current=${words[-1]}
	[[ $word != [:=]* ]] || word=
	kept=${current%"$word"}
	if [[ $current == --*=* ]]; then
		previous=${current%%=*} current=${current#*=} kept=${kept#*=}
	fi
	if [[ $command = @(record|stat) && " ${words[*]:2:${#words[@]}-3} " == *' -- '* ]]; then
		# The command to be recorded; its arguments are files.
		[[ $previous != -- ]] || { compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -c -- "$current"); }
	elif [[ ${#words[@]} = 2 || ${#words[@]} = 3 && $command = help && $current != -* ]]; then
		_perfvisor_words "$(_perfvisor_commands)"
	elif ! _perfvisor_argument "$command:$previous"; then
		_perfvisor_words "$(_perfvisor_options "$command")"
	fi
}
complete -o default -F _perfvisor perfvisor
