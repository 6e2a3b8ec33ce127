import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { COMMANDS, GROUPS } from "../table/commands.ts";
import { GLOBAL_OPTIONS } from "../table/global-options.ts";
import { bareEnvironment, MAIN, runCli } from "../testing/run-cli.ts";
import { offersFor } from "./completion.ts";

const tree = { commands: COMMANDS, groups: GROUPS, globals: GLOBAL_OPTIONS };
const wordsAfter = (line: string): string[] => offersFor(line.split(" ").slice(1), tree).map(([word]) => word);

test.each([
  ["copra enc", ["encode"]],
  ["copra jobs fo", ["follow"]],
  ["copra node", ["node", "nodes", "node-tokens"]],
  ["copra jobs follow --ti", ["--timeout"]],
  ["copra --json jobs ret", ["retry"]],
  ["copra completion ", ["bash", "zsh", "fish"]],
  ["copra webhooks trigger job.a", ["job.aborted"]],
  ["copra encode vid", ["@files"]],
  ["copra encode --storage vid", ["@files"]],
  ["copra encode --to m", []],
  ["copra no-such-command ", []],
])("offers the words after %j", (line, words) => {
  expect(wordsAfter(line).toSorted()).toEqual(words.toSorted());
});

test("offers every command, and each of its options", () => {
  for (const { name, options = [] } of COMMANDS) {
    const verb = name.split(" ").at(-1);
    expect(wordsAfter(`copra ${name}`)).toContain(verb);
    const flags = options.flatMap(({ flags }) => flags.split(/[ ,]+/).filter((flag) => flag.startsWith("-")));
    expect(wordsAfter(`copra ${name} -`)).toEqual(expect.arrayContaining(flags));
  }
});

describe("the script for a shell", () => {
  const folder = fileFolder();
  writeFileSync(join(folder, "video.mov"), "");
  writeFileSync(join(folder, "copra"), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(folder, "copra"), 0o755);
  const env = { ...bareEnvironment(folder), PATH: `${folder}:${process.env.PATH}` };

  const isInstalled = (shell: string): boolean => {
    try {
      execFileSync(shell, ["--version"], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  };

  /** Loads the script from `copra.SHELL` and prints the words that it offers for `words`. */
  const PROGRAMS: Readonly<Record<string, (words: readonly string[]) => string[]>> = {
    bash: (words) => [
      ...["--norc", "-c"],
      `source ./copra.bash; COMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _copra; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ],
    // Replaces compadd and _files, which only the line editor has.
    zsh: (words) => [
      ...["-f", "-c"],
      `compdef() { : }; compadd() { shift; print -l -- "$@" }; _files() { print -l -- *.mov }
source ./copra.zsh; words=(${quoted(words)}); CURRENT=${words.length}; _copra`,
    ],
    fish: (words) => ["--no-config", "-c", `source ./copra.fish; complete -C '${words.join(" ")}'`],
  };
  const quoted = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(" ");

  for (const [shell, argumentsFor] of Object.entries(PROGRAMS)) {
    it.runIf(isInstalled(shell))(`offers commands and files in ${shell}`, async () => {
      writeFileSync(join(folder, `copra.${shell}`), (await runCli(["completion", shell], env)).stdout);
      const offered = (line: string): string[] =>
        execFileSync(shell, argumentsFor(line.split(" ")), { cwd: folder, env, encoding: "utf8" })
          .split("\n")
          .flatMap((row) => row.split("\t")[0] || []);
      expect(offered("copra jobs fo")).toEqual(["follow"]);
      expect(offered("copra encode vid")).toEqual(["video.mov"]);
    });
  }
});
