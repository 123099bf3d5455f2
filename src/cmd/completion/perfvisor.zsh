# SPDX-License-Identifier: GPL-2.0-or-later
# KIND: files or folders
_perfvisor_files() {
	if [[ $1 == -d ]]; then
		_files -/
	else
		_files
	fi
}
# After a comma, the next word of a list.
_perfvisor_words() {
	compset -P '*,'
	compadd -- ${=1}
}
# Names of VMs are other people's words: compadd compares and quotes them, and nothing expands them.
_perfvisor_vms() {
	local -a names
	names=("${(@f)$(_perfvisor_vm_names)}")
	names=("${(@)names:#}")
	compadd -a -- names
}
_perfvisor() {
	local command=$words[2] previous=$words[CURRENT-1] current=$words[CURRENT]
	local -i dashes=${words[(i)--]}
	if [[ $command == (record|stat) ]] && (( dashes < CURRENT )); then
		shift $dashes words
		(( CURRENT -= dashes ))
		_normal
		return
	fi
	if [[ $current == --*=* ]]; then
		previous=${current%%\=*}
		compset -P 1 '*='
	fi
	if [[ $CURRENT == 2 || $CURRENT == 3 && $command == help && $current != -* ]]; then
		_perfvisor_words "$(_perfvisor_commands)"
	elif ! _perfvisor_argument "$command:$previous"; then
		if [[ $current == -* ]]; then
			_perfvisor_words "$(_perfvisor_options "$command")"
		else
			_files
		fi
	fi
}
if [[ $funcstack[1] == _perfvisor ]]; then
	_perfvisor "$@"
else
	compdef _perfvisor perfvisor
fi
