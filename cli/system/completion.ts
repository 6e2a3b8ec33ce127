// copra completion: generates scripts for bash, zsh and fish from the table of commands.
import type { ArgumentSpec, CommandGroup, CommandSpec, OptionSpec, Run } from "../command-spec.ts";

/** Commands, groups and options that can be completed. */
export type CommandTree = {
  readonly commands: readonly CommandSpec[];
  readonly groups: readonly CommandGroup[];
  readonly globals: readonly OptionSpec[];
};

/** Prints the script for a shell. */
export const completion =
  (tree: CommandTree): Run =>
  async ({ output }, [shell]) => {
    output.raw(shell === "zsh" ? zshScript(tree) : shell === "fish" ? fishScript(tree) : bashScript(tree));
  };

type Word = { readonly word: string; readonly summary: string };

const names = (flags: string): readonly string[] => flags.split(/[ ,]+/).filter((part) => part.startsWith("-"));
const takesValue = ({ flags }: OptionSpec): boolean => flags.includes("<");
const HELP: OptionSpec = { flags: "-h, --help", description: "Show help" };
const optionsOf = (spec: CommandSpec, { globals }: CommandTree): readonly OptionSpec[] => [
  ...(spec.options ?? []),
  ...globals,
  HELP,
];

/** Possible first words: commands of a single word, and groups. */
const firstWords = ({ commands, groups }: CommandTree): readonly Word[] => [
  ...commands.filter(({ name }) => !name.includes(" ")).map(({ name, summary }) => ({ word: name, summary })),
  ...groups.map(({ name, summary }) => ({ word: name, summary })),
];

const verbsOf = (group: string, { commands }: CommandTree): readonly Word[] =>
  commands
    .filter(({ name }) => name.startsWith(`${group} `))
    .map(({ name, summary }) => ({
      word: name.slice(group.length + 1),
      summary,
    }));

/** Returns the kind of a value: fixed words, files, folders, or anything. */
const valueKind = ({ choices, complete }: OptionSpec | ArgumentSpec): string =>
  choices ? choices.join(" ") : complete === "folder" ? "@folders" : complete === "file" ? "@files" : "";

const everyValueOption = (tree: CommandTree): readonly OptionSpec[] => {
  const all = tree.commands.flatMap((spec) => optionsOf(spec, tree)).filter(takesValue);
  return all.filter(({ flags }, at) => all.findIndex((other) => other.flags === flags) === at);
};

const wordsOf = (words: readonly Word[]): string => words.map(({ word }) => word).join(" ");
const flagsOf = (spec: CommandSpec, tree: CommandTree): string =>
  optionsOf(spec, tree)
    .flatMap(({ flags }) => names(flags))
    .join(" ");

/** Returns `case` branches with the offers for each command, in the syntax that bash and zsh share. */
function cases(tree: CommandTree): string {
  const groups = tree.groups.map(({ name }) => `    "${name}") offers="${wordsOf(verbsOf(name, tree))}" ;;`);
  const commands = tree.commands.map((spec) => {
    const values = (spec.arguments ?? []).map(valueKind).join(" ");
    return `    "${spec.name}") offers="${values}"; flags="${flagsOf(spec, tree)}" ;;`;
  });
  return [...groups, ...commands].join("\n");
}

const valueCases = (tree: CommandTree): string =>
  everyValueOption(tree)
    .map((option) => `    ${names(option.flags).join("|")}) values="${valueKind(option) || "@none"}" ;;`)
    .join("\n");

/**
 * Shell code that finds the command in `typed` (the words before the cursor) and sets `offers`, `flags` and `values`.
 */
const finder = (tree: CommandTree): string => `
  command="" first=""
  for word in "\${typed[@]}"; do
    case "$word" in -*) continue ;; esac
    if [ -z "$first" ]; then first="$word"; command="$word"
    else case " ${tree.groups.map(({ name }) => name).join(" ")} " in *" $first "*) command="$first $word" ;; esac; break
    fi
  done
  offers="" flags="--help --version" values=""
  case "$previous" in
${valueCases(tree)}
  esac
  case "$command" in
    "") offers="${wordsOf(firstWords(tree))}" ;;
${cases(tree)}
  esac
  case "$current" in -*) offers="$flags" ;; esac
  [ -n "$values" ] && offers="$values"`;

const bashScript = (tree: CommandTree): string => `# bash completion for copra: eval "$(copra completion bash)"
_copra() {
  local current previous typed command first word offers flags values
  current="\${COMP_WORDS[COMP_CWORD]}"
  previous="\${COMP_WORDS[COMP_CWORD-1]}"
  typed=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${finder(tree)}
  COMPREPLY=()
  for word in $offers; do
    case "$word" in
      @files) COMPREPLY+=($(compgen -f -- "$current")) ;;
      @folders) COMPREPLY+=($(compgen -d -- "$current")) ;;
      @none) ;;
      "$current"*) COMPREPLY+=("$word") ;;
    esac
  done
}
complete -o filenames -o nosort -F _copra copra 2>/dev/null || complete -o filenames -F _copra copra
`;

const zshScript = (tree: CommandTree): string => `#compdef copra
# zsh completion for copra: eval "$(copra completion zsh)", or as _copra in a folder of $fpath.
_copra() {
  setopt localoptions shwordsplit ksharrays
  local current previous command first word flags values offers
  local -a typed offered
  typed=("\${words[@]:1:$((CURRENT-2))}")
  current="\${words[$((CURRENT-1))]}"
  previous="\${words[$((CURRENT-2))]}"
${finder(tree)}
  for word in $offers; do
    case "$word" in
      @files) _files ;;
      @folders) _files -/ ;;
      @none) ;;
      *) offered+=("$word") ;;
    esac
  done
  compadd -- "\${offered[@]}"
}
if [ "$funcstack[1]" = "_copra" ]; then _copra "$@"; else compdef _copra copra; fi
`;

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

function fishScript(tree: CommandTree): string {
  const lines = ["# fish completion for copra: copra completion fish | source", "complete -c copra -f"];
  const first = wordsOf(firstWords(tree));
  for (const { word, summary } of firstWords(tree)) {
    lines.push(
      `complete -c copra -n ${quoted(`not __fish_seen_subcommand_from ${first}`)} -a ${word} -d ${quoted(summary)}`,
    );
  }
  for (const { name } of tree.groups) {
    const verbs = verbsOf(name, tree);
    const condition = `__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${wordsOf(verbs)}`;
    for (const { word, summary } of verbs) {
      lines.push(`complete -c copra -n ${quoted(condition)} -a ${word} -d ${quoted(summary)}`);
    }
  }
  for (const spec of tree.commands) {
    const condition = spec.name
      .split(" ")
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join("; and ");
    for (const option of optionsOf(spec, tree)) lines.push(fishOption(option, condition));
    for (const argument of spec.arguments ?? []) {
      const values = fishValues(argument);
      if (values) lines.push(`complete -c copra -n ${quoted(condition)} ${values}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function fishOption(option: OptionSpec, condition: string): string {
  const flags = names(option.flags).map((flag) =>
    flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
  );
  const value = takesValue(option) ? ` -r ${fishValues(option)}` : "";
  return `complete -c copra -n ${quoted(condition)} ${flags.join(" ")}${value} -d ${quoted(option.description)}`;
}

function fishValues({ choices, complete }: OptionSpec | ArgumentSpec): string {
  if (choices) return `-a ${quoted(choices.join(" "))}`;
  if (complete === "folder") return `-a '(__fish_complete_directories)'`;
  return complete === "file" ? "-F" : "";
}
