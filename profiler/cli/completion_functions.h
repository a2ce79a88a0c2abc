// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each completion script begins with: functions that offer words, targets, run directories and files.
//
// In each script, MODE says how a value goes on: "one" word; "items", of which each may come once, with commas between
// them; "policy", a word POLICY=VALUE and more values of this policy.
namespace icepath::cli {

// The output of `icepath list`: names of what can be measured here, and what stands before a "/" in them.
inline constexpr const char *kNames = "sed -n '2,/^$/{s/ .*//p;s,/.*,,p}' | sort -u";

inline constexpr const char *kBash = R"script(# bash completion for icepath -*- shell-script -*-
# Made by icepath gen bash.

# MODE VALUE WORD...: the words that VALUE may go on as.
_icepath_offer()
{
	local mode=$1 value=$2 before= policy= word
	shift 2
	if [[ $mode != one && $value == *,* ]]; then before=${value%,*},; fi
	if [[ $mode == policy && $before ]]; then policy=${value%%=*}=; fi
	local taken=,${before#"$policy"}
	for word in "$@"; do
		[[ $word == "$policy"* ]] || continue
		word=${word#"$policy"}
		[[ ! $word || $taken == *",$word,"* || ($word == *= && $taken == *",$word"*) ]] && continue
		[[ $before$word == "$value"* ]] && COMPREPLY+=("$before$word")
	done
	# Bash's own word begins behind the last of these.
	if [[ $value == *[=:]* && $COMP_WORDBREAKS == *=* && $COMP_WORDBREAKS == *:* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${value%"${value##*[=:]}"}"}")
	fi
	if [[ $mode != one || ${COMPREPLY[0]} == *[=:] ]]; then compopt -o nospace; fi
}

_icepath_folders() # VALUE
{
	compopt -o filenames
	mapfile -t COMPREPLY < <(compgen -d -- "$1")
}

_icepath_files() # VALUE
{
	compopt -o filenames
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# VALUE: run directories, and folders in which there may be one.
_icepath_runs()
{
	local folder path
	compopt -o filenames
	while IFS= read -r folder; do
		path=${folder/#\~\//$HOME/}
		if [[ -e $path/capture.icp || -e $path/capture.icp.partial ]] || compgen -d -- "$path/" >/dev/null; then
			COMPREPLY+=("$folder")
		fi
	done < <(compgen -d -- "$1")
}

_icepath()
{
	local program=$1 command= option= value cur i words line=${COMP_LINE:0:COMP_POINT}
	COMPREPLY=()
	read -a words <<<"$line"
	if [[ $line == *[[:space:]] ]]; then words+=(""); fi
	cur=${words[-1]}
	for ((i = 1; i < ${#words[@]} - 1; i++)); do
		if [[ ${words[i]} != -* ]]; then command=${words[i]} && break; fi
	done
	if [[ $cur == --*=* ]]; then
		option=${cur%%=*} value=${cur#*=}
	else
		option=${words[-2]} value=$cur
	fi
	if [[ $option == -* ]] && _icepath_value; then return; fi
	if [[ $cur != -* ]] && _icepath_argument; then return; fi
	_icepath_options
}
)script";

inline constexpr const char *kZsh = R"script(#compdef icepath
# Made by icepath gen zsh.

# MODE WORD...: the words that the value may go on as.
_icepath_offer()
{
	local mode=$1 policy= taken= word
	shift
	local -a words=("$@") whole open
	if [[ $mode != one && $PREFIX == *,* ]]; then
		if [[ $mode == policy ]]; then policy=${PREFIX%%=*}=; fi
		taken=,${${PREFIX%,*}#$policy},
		compset -P '*,'
	fi
	for word in "${words[@]}"; do
		[[ $word == $policy* ]] || continue
		word=${word#$policy}
		[[ -z $word || $taken == *,$word,* || ($word == *= && $taken == *,$word*) ]] && continue
		if [[ $word == *[=:] ]]; then open+=($word); else whole+=($word); fi
	done
	(( $#open )) && compadd -S '' -a open
	if [[ $mode == one ]]; then compadd -a whole; else compadd -qS , -a whole; fi
}

_icepath_is_on_the_way() # whether $REPLY is a run directory or has folders
{
	local -a folders=($REPLY/*(-/N))
	[[ -e $REPLY/capture.icp || -e $REPLY/capture.icp.partial ]] || (( $#folders ))
}

_icepath_runs() { _path_files -g '*(-/+_icepath_is_on_the_way)' }

_icepath_targets() # WORD...
{
	_icepath_offer items "$@" ${(f)"$($program list 2>/dev/null | sed -n '2,/^$/{s/ .*//p;s,/.*,,p}' | sort -u)"}
}

)script";

inline constexpr const char *kFish = R"script(# fish completion for icepath
# Made by icepath gen fish.

# The value that is being typed, without its option.
function __icepath_value
	string replace -r -- '^--[a-z0-9-]+=' '' (commandline -ct)
end

# Whether the command is this one; none: whether there is none yet.
function __icepath_in
	for word in (commandline -opc)[2..]
		if not string match -q -- '-*' $word
			test "$word" = "$argv"
			return
		end
	end
	test -z "$argv"
end

# MODE WORD...: the words that the value may go on as.
function __icepath_offer
	set -l mode $argv[1]
	set -l value (__icepath_value)
	if test $mode = one; or not string match -q '*,*' -- $value
		string join \n -- $argv[2..]
		return
	end
	set -l before (string replace -r '[^,]*$' '' -- $value)
	set -l policy
	if test $mode = policy
		set policy (string replace -r '=.*' '=' -- $value)
	end
	set -l taken (string split , -- (string sub -s (math (string length -- "$policy") + 1) -- $before))
	for word in $argv[2..]
		string match -q -- "$policy*" $word; or continue
		set word (string sub -s (math (string length -- "$policy") + 1) -- $word)
		test -z "$word"; and continue
		contains -- $word $taken; and continue
		string match -q '*=' -- $word; and string match -q -- "$word*" $taken; and continue
		echo $before$word
	end
end

function __icepath_targets # WORD...
	set -l program (commandline -opc)[1]
	__icepath_offer items $argv ($program list 2>/dev/null | sed -n '2,/^$/{s/ .*//p;s,/.*,,p}' | sort -u)
end

function __icepath_folders
	__fish_complete_directories (__icepath_value) | string replace -r '\t.*' ''
end

# Run directories, and folders in which there may be one.
function __icepath_runs
	for folder in (__icepath_folders)
		set -l path (string replace -r '^~/' ~/ -- $folder)
		if test -e $path/capture.icp; or test -e $path/capture.icp.partial
			string trim -r -c / -- $folder
		else if count $path/*/ >/dev/null
			echo $folder
		end
	end
end

complete -c icepath -f
)script";

} // namespace icepath::cli
