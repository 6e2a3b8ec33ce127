// Completion in bash, zsh and fish: a script for each shell asks `copra __complete` for the words after the typed words.
import type { ArgumentSpec, CommandGroup, CommandSpec, OptionSpec, Run } from "../command-spec.ts";

/** Commands, groups and options that can be completed. */
export type CommandTree = {
  readonly commands: readonly CommandSpec[];
  readonly groups: readonly CommandGroup[];
  readonly globals: readonly OptionSpec[];
};

/** A word with its description. The words `@files` and `@folders` stand for the paths that the shell knows. */
export type Offer = readonly [word: string, description: string];

const HELP: OptionSpec = { flags: "-h, --help", description: "Show help" };

const flagsOf = ({ flags }: OptionSpec): readonly string[] =>
  flags.split(/[ ,]+/).filter((flag) => flag.startsWith("-"));

/** Returns the words that may complete the last word of `typed`, the words after `copra`. */
export function offersFor(typed: readonly string[], { commands, groups, globals }: CommandTree): readonly Offer[] {
  const current = typed.at(-1) ?? "";
  const before = typed.slice(0, -1);
  const words = before.filter((word) => !word.startsWith("-"));
  const group = groups.find(({ name }) => name === words[0]);
  const path = words.slice(0, group ? 2 : 1).join(" ");
  const command = commands.find(({ name }) => name === path);
  const options = [...(command?.options ?? []), ...globals, HELP];
  const option = options.find((candidate) => flagsOf(candidate).includes(before.at(-1) ?? ""));
  const isOffered = ([word]: Offer): boolean => word.startsWith("@") || word.startsWith(current);
  if (option?.flags.includes("<")) return valuesOf(option).filter(isOffered);
  if (current.startsWith("-"))
    return options.flatMap((spec) => flagsOf(spec).map((flag): Offer => [flag, spec.description])).filter(isOffered);
  const argumentWords = (command?.arguments ?? []).flatMap(valuesOf);
  const prefix = path === "" ? "" : `${path} `;
  const verbs = [...commands, ...(path === "" ? groups : [])].flatMap(({ name, summary }): Offer[] => {
    const word = name.slice(prefix.length);
    return name.startsWith(prefix) && word !== "" && !word.includes(" ") ? [[word, summary]] : [];
  });
  return [...argumentWords, ...(command ? [] : verbs)].filter(isOffered);
}

function valuesOf({ choices, complete, description }: OptionSpec | ArgumentSpec): Offer[] {
  if (choices) return choices.map((choice) => [choice, description]);
  return complete ? [[`@${complete}s`, description]] : [];
}

/** Prints the script for a shell. */
export const completion: Run = async ({ output }, [shell]) => {
  output.raw(shell === "zsh" ? ZSH : shell === "fish" ? FISH : BASH);
};

const BASH = `# bash completion for copra: eval "$(copra completion bash)"
_copra() {
  local offer current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS=$'\\t' read -r offer _; do
    case "$offer" in
      @files) COMPREPLY+=($(compgen -f -- "$current")) ;;
      @folders) COMPREPLY+=($(compgen -d -- "$current")) ;;
      *) COMPREPLY+=("$offer") ;;
    esac
  done < <(copra __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o filenames -o nosort -F _copra copra 2>/dev/null || complete -o filenames -F _copra copra
`;

const ZSH = `#compdef copra
# zsh completion for copra: eval "$(copra completion zsh)", or as _copra in a folder of $fpath.
_copra() {
  local offer _
  copra __complete "\${(@)words[2,CURRENT]}" 2>/dev/null | while IFS=$'\\t' read -r offer _; do
    case "$offer" in
      @files) _files ;;
      @folders) _files -/ ;;
      *) compadd -- "$offer" ;;
    esac
  done
}
if [ "$funcstack[1]" = "_copra" ]; then _copra "$@"; else compdef _copra copra; fi
`;

const FISH = `# fish completion for copra: copra completion fish | source
function __copra_offers
  for offer in (copra __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
    switch $offer
      case '@files*'
        __fish_complete_path (commandline -ct)
      case '@folders*'
        __fish_complete_directories (commandline -ct)
      case '*'
        echo $offer
    end
  end
end
complete -c copra -f -a '(__copra_offers)'
`;
