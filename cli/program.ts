// Builds the commander program from the table of commands.
import { Argument, Command, CommanderError, Option } from "commander";
import type { CommandSpec } from "./command-spec.ts";
import type { Options } from "./context.ts";
import { COMMANDS, GROUPS } from "./table/commands.ts";
import { GLOBAL_OPTIONS } from "./table/global-options.ts";

/** The parsed command line. */
export type Chosen = {
  readonly spec: CommandSpec;
  readonly args: readonly string[];
  readonly options: Options;
  readonly globals: Options;
};

/** Text for people: requested help, or an error in the command line. */
export type Words = { readonly text: string; readonly isHelp: boolean };

export type Parsed = { readonly chosen: Chosen } | { readonly words: Words };

/** Parses the arguments after the program's name. `--version` prints `version`. */
export function parseCommandLine(argv: readonly string[], version: string): Parsed {
  let out = "";
  let errors = "";
  let chosen: Chosen | null = null;
  const program = buildProgram(version, (command) => {
    chosen = command;
  });
  configure(program, {
    writeOut: (text) => {
      out += text;
    },
    writeErr: (text) => {
      errors += text;
    },
  });
  try {
    program.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { words: out === "" ? { text: errors, isHelp: false } : { text: out, isHelp: true } };
  }
  return chosen === null ? { words: { text: program.helpInformation(), isHelp: false } } : { chosen };
}

type Writers = { writeOut(text: string): void; writeErr(text: string): void };

/** Options that take the next argument as their value. */
const VALUE_FLAGS: ReadonlySet<string> = new Set(
  [...GLOBAL_OPTIONS, ...COMMANDS.flatMap(({ options = [] }) => options)]
    .filter(({ flags }) => flags.includes("<"))
    .flatMap(({ flags }) => flags.split(/[ ,]+/).filter((word) => word.startsWith("-"))),
);

/**
 * Adds the default second word of command groups: `copra jobs` becomes `copra jobs ls`, `copra node` becomes `copra
 * node run`.
 */
export function withDefaultVerb(argv: readonly string[]): readonly string[] {
  const words = argv.flatMap((word, at) =>
    word.startsWith("-") || VALUE_FLAGS.has(argv[at - 1] ?? "") ? [] : [{ word, at }],
  );
  const [group] = words;
  const list = COMMANDS.find(({ name }) => name === `${group?.word} ls` || name === `${group?.word} run`);
  const asksForHelp = argv.includes("-h") || argv.includes("--help");
  if (!group || words.length > 1 || !list || list.arguments || asksForHelp) return argv;
  return [...argv.slice(0, group.at + 1), list.name.slice(group.word.length + 1), ...argv.slice(group.at + 1)];
}

/** Configures each command by itself: subcommands do not inherit settings made after they were added. */
function configure(command: Command, writers: Writers): void {
  command
    .exitOverride()
    .configureOutput(writers)
    .showHelpAfterError(`(copra ${pathOf(command)}--help shows how)`);
  for (const sub of command.commands) configure(sub, writers);
}

const pathOf = (command: Command): string => (command.parent ? `${pathOf(command.parent)}${command.name()} ` : "");

function buildProgram(version: string, choose: (chosen: Chosen) => void): Command {
  const program = new Command("copra")
    .description("Encode media with a Copra service: submit and follow jobs, receive webhooks, run nodes.")
    .version(version, "-V, --version", "Show the version")
    .helpOption("-h, --help", "Show help")
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText("after", HELP_END);
  for (const { flags, description } of GLOBAL_OPTIONS) program.option(flags, description);
  const groups = new Map<string, Command>();
  const parentOf = (group: string): Command => {
    const existing = groups.get(group);
    if (existing) return existing;
    const summary = GROUPS.find(({ name }) => name === group)?.summary ?? "";
    const added = program.command(group).description(summary).helpOption("-h, --help", "Show help").helpCommand(false);
    groups.set(group, added);
    return added;
  };
  for (const spec of COMMANDS) {
    program.commandsGroup(`${spec.section}:`);
    const [first = "", second] = spec.name.split(" ");
    const parent = second === undefined ? program : parentOf(first);
    addCommand(parent, second ?? first, spec, (args, options) =>
      choose({ spec, args, options, globals: program.opts() }),
    );
  }
  return program;
}

function addCommand(
  parent: Command,
  name: string,
  spec: CommandSpec,
  choose: (args: readonly string[], options: Options) => void,
): void {
  const command = parent.command(name).description(spec.summary);
  command.helpOption("-h, --help", "Show help");
  for (const { name: argument, description, choices } of spec.arguments ?? []) {
    const added = new Argument(argument, description);
    command.addArgument(choices ? added.choices(choices) : added);
  }
  for (const { flags, description, repeat, choices } of spec.options ?? []) {
    const option = new Option(flags, description);
    if (choices) option.choices(choices);
    if (repeat) option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
    command.addOption(option);
  }
  if (spec.examples)
    command.addHelpText("after", `\nExamples:\n${spec.examples.map((line) => `  ${line}`).join("\n")}`);
  command.action((...passed: unknown[]) => {
    const values = passed.slice(0, spec.arguments?.length ?? 0).flat();
    choose(
      values.filter((value) => typeof value === "string"),
      command.opts(),
    );
  });
}

const HELP_END = `
The service: --url, else COPRA_URL, else the profile (copra login), else the local system (copra dev).
Exit codes: 0 done, 1 a job or output failed, 2 usage or a request that is not valid, 3 not allowed, 4 not found,
5 service or network, 6 --timeout, 130 Ctrl-C.`;
