# What zsh lists when Tab is pressed after a line: completion.zsh SCRIPTS FOLDER LINE
# An interactive zsh of its own in FOLDER, on a terminal without any escape sequences.
zmodload zsh/zpty
cd $2
TERM=dumb zpty -b shell zsh -f -i
typeset text=

# Reads until the text contains $1.
wait_for() {
	local piece
	float end=$((SECONDS + 20))
	while [[ $text != *$1* ]] && ((SECONDS < end)); do
		if zpty -r -t shell piece; then
			text+=$piece
		else
			sleep 0.02
		fi
	done
	[[ $text == *$1* ]]
}

zpty -w shell "PROMPT= RPROMPT= LISTMAX=1000; unsetopt zle_bracketed_paste prompt_cr; stty -echo cols 400
	fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $2/zcompdump
	zstyle ':completion:*' verbose no; zstyle ':completion:*' list-grouped no
	finish() { zle kill-whole-line; zle -M END-OF-LIST; }; zle -N finish; bindkey '^X' finish
	print READY''NOW"
wait_for READYNOW || exit 1
text=
zpty -w -n shell "$3"$'\t\C-x'
wait_for END-OF-LIST || exit 1
zpty -d shell
# The line itself, the list, and the line again.
print -l -- ${=${${(f)text//$'\r'/}}[2]}
