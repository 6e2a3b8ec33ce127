import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../table/commands.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

let folder: string;
const scripts: Record<string, string> = {};
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "copra-completion-"));
  writeFileSync(join(folder, "video.mov"), "");
  for (const shell of ["bash", "zsh", "fish"]) {
    scripts[shell] = (await runCli(["completion", shell], bareEnvironment(folder))).stdout;
    writeFileSync(join(folder, `copra.${shell}`), scripts[shell]);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Words that the shell offers for a line whose last word is incomplete. */
const OFFERS: readonly [string, readonly string[]][] = [
  ["copra enc", ["encode"]],
  ["copra jobs fo", ["follow"]],
  ["copra node", ["node", "nodes", "node-tokens"]],
  ["copra jobs follow --ti", ["--timeout"]],
  ["copra --json jobs ret", ["retry"]],
  ["copra completion ", ["bash", "zsh", "fish"]],
  ["copra webhooks trigger job.a", ["job.aborted"]],
  ["copra encode vid", ["video.mov"]],
  ["copra encode --storage vid", ["video.mov"]],
  ["copra encode --to m", []],
];

const has = (shell: string): boolean => {
  try {
    execFileSync(shell, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

describe.runIf(has("bash"))("in bash", () => {
  it.each(OFFERS)("%s", (line, offered) => {
    const words = line.split(" ").map((word) => `"${word}"`);
    const program = `source copra.bash; COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _copra; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const output = execFileSync("bash", ["--norc", "-c", program], { cwd: folder, encoding: "utf8" });
    expect(output.split("\n").filter((word) => word !== "")).toEqual(offered);
  });
});

describe.runIf(has("fish"))("in fish", () => {
  it.each(OFFERS.filter(([line]) => !line.includes("--to")))("%s", (line, offered) => {
    const program = `source copra.fish; complete -C '${line}'`;
    const output = execFileSync("fish", ["--no-config", "-c", program], { cwd: folder, encoding: "utf8" });
    expect(output.split("\n").map((row) => row.split("\t")[0])).toEqual(expect.arrayContaining([...offered]));
  });
});

describe.runIf(has("zsh"))("in zsh", () => {
  // Replaces compadd and _files, which only the line editor has. compadd offers words that start with the typed word.
  const program = (words: readonly string[]): string => `compdef() { : }
compadd() { shift; print -l -- "$@" }
_files() { print -l -- * }
source ./copra.zsh
words=(${words.map((word) => `"${word}"`).join(" ")}); CURRENT=${words.length}; _copra`;

  it.each(OFFERS)("%s", (line, offered) => {
    const words = line.split(" ");
    const output = execFileSync("zsh", ["-f", "-c", program(words)], { cwd: folder, encoding: "utf8" });
    const current = words.at(-1) ?? "";
    expect(output.split("\n").filter((word) => word !== "" && word.startsWith(current))).toEqual(offered);
  });
});

it("contains every command and its options in the script of each shell", () => {
  for (const { name, options = [] } of COMMANDS) {
    const word = name.split(" ").at(-1);
    for (const [shell, script] of Object.entries(scripts)) {
      expect([shell, name, script.includes(` ${word} `) || script.includes(`"${name}"`)]).toEqual([shell, name, true]);
      for (const { flags } of options) {
        const flag = flags.split(/[ ,]+/).find((part) => part.startsWith("--")) ?? "";
        expect([shell, flag, script.includes(shell === "fish" ? `-l ${flag.slice(2)}` : flag)]).toEqual([
          shell,
          flag,
          true,
        ]);
      }
    }
  }
});
