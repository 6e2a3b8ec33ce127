// npm run check: formatting and lint, types, unused code, circles between rooms, refused words, hard sentences,
// regular expressions that may be slow, files that nodes open, defaults in stored state, the map of the code,
// broken links, and size.
// `npm run check -- circles words shared/plan` runs only these two checks, for files below that path.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "#shared/log.ts";
import { ROOT } from "../home/constants.ts";
import { circlesOf } from "./circles.ts";
import { isProduction, listFiles } from "./files.ts";
import { regexesIn, slowRegexes } from "./linear-regexes.ts";
import { brokenLinks } from "./links.ts";
import { mapErrors } from "./map.ts";
import { openedFiles } from "./opened-files.ts";
import { sizeOfRepository } from "./size.ts";
import { KINDS, type Prose, proseOf, proseOfMarkdown, voiceErrors } from "./voice.ts";
import { badWordsIn } from "./words.ts";

type Outcome = { readonly passed: boolean; readonly output: string };

type Check = {
  readonly run: (isChecked: (file: string) => boolean) => Outcome | Promise<Outcome>;
  /** Advice about a failure. */
  readonly help: string;
};

/** Runs a program of node_modules. npx would look the program up again and might use the network. */
const tool =
  (name: string, ...argv: string[]): Check["run"] =>
  () =>
    new Promise((resolve) => {
      const program = join(ROOT, "node_modules", ".bin", name);
      const env = { ...process.env, ...(process.stdout.isTTY ? { FORCE_COLOR: "1" } : {}) };
      execFile(program, argv, { cwd: ROOT, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
        const failedToStart = error && typeof error.code !== "number" ? `${messageOf(error)}\n` : "";
        resolve({ passed: error === null, output: error ? stdout + stderr + failedToStart : "" });
      });
    });

/** A check that passes if it finds nothing. */
const finds = (lines: readonly string[]): Outcome => ({ passed: lines.length === 0, output: lines.join("\n") });

/** The list of words itself, and the API's original contract. */
const EXEMPT_FROM_WORDS = /^local\/check\/words(\.test)?\.ts$|^docs\/glossary\.md$/;
const MOST_SHOWN = 100;
/** Texts of others: the contract of the API, licenses. */
const EXEMPT_FROM_VOICE = /^local\/check\/voice(\.test)?\.ts$|^THIRD-PARTY-NOTICES\.md$|^docs\/conformance\.md$/;

/** These files read no text of others: only the repository and its guides. */
const READS_OWN_TEXT = /^(?:local\/(?:check|guides)|bench)\//;

/** The arguments of `npm run wrangler:types`. They do not depend on a .dev.vars. */
const TYPES_OF_BINDINGS = [
  "worker/wrangler-env/generated.d.ts",
  "--include-runtime=false",
  "--strict-vars=false",
  "--env-interface=WranglerEnv",
  "--env-file=.dev.vars.example",
];

const CHECKS: Readonly<Record<string, Check>> = {
  biome: {
    run: tool("biome", "check", "."),
    help: "`npm run fix` repairs formatting and some rules. Each other message names its rule and what to write.",
  },
  tsc: {
    run: tool("tsc", "-b"),
    help: "Each line is file(line,column), TypeScript's error code and the type that does not match.",
  },
  env: {
    run: tool("wrangler", "types", ...TYPES_OF_BINDINGS, "--check"),
    help: "wrangler.toml has changed: `npm run wrangler:types` writes the types of its bindings again.",
  },
  knip: {
    run: tool("knip"),
    help: "No file imports these. Delete them or remove `export`; entry points are listed in knip.json.",
  },
  circles: {
    run: (isChecked) =>
      finds(
        circlesOf(listFiles())
          .filter(({ imports }) => imports.some(({ from }) => isChecked(from)))
          .flatMap(({ folder, rooms, imports }) => [
            `Circle in ${folder || "the top level"}: ${rooms.join(", ")}`,
            ...imports.map(({ from, to }) => `  ${from} imports ${to}`),
          ]),
      ),
    help:
      "Files and folders with the same parent must not import each other in a circle; `import type` counts.\n" +
      "Move what both need to the lower one, or pass it as an argument (CONTRIBUTING.md, Rooms).",
  },
  words: {
    run: (isChecked) => {
      const files = listFiles().filter((file) => isChecked(file) && !EXEMPT_FROM_WORDS.test(file));
      const errors = badWordsIn(files).map(
        ({ file, line, word, instead, text }) =>
          `${file}:${line}: "${word}": write ${instead}\n    ${text.slice(0, 140)}`,
      );
      const more = errors.length > MOST_SHOWN ? [`… and ${errors.length - MOST_SHOWN} more`] : [];
      return finds([...errors.slice(0, MOST_SHOWN), ...more]);
    },
    help:
      "Write the term that docs/glossary.md gives. A name that a standard or another program gives, such as ffmpeg's\n" +
      "`attached_pic`, belongs to GIVEN in local/check/words.ts.",
  },
  voice: {
    run: (isChecked) => {
      const prose: Prose[] = [];
      const starts: string[] = [];
      for (const file of listFiles().filter((name) => isChecked(name) && !EXEMPT_FROM_VOICE.test(name))) {
        const text = readFileSync(join(ROOT, file), "utf8");
        if (file.endsWith(".md")) prose.push(...proseOfMarkdown(file, text));
        else {
          const texts = proseOf(file, text);
          prose.push(...texts.prose);
          starts.push(...texts.badStarts);
        }
      }
      const counted = prose.filter(({ kind, file }) => kind !== "messages" || isProduction(file));
      const errors = KINDS.flatMap((kind) => voiceErrors(kind, counted));
      const opening = starts.length > 0 ? ["Docstrings that start with What, Whether, How, One or Of:", ...starts] : [];
      return finds([...opening, ...errors]);
    },
    help:
      "Write the sentence again: subject, verb, object, and the name of the thing instead of a pronoun (CONTRIBUTING.md,\n" +
      'Rules). A docstring starts with a noun or a verb: "Free slots per node.", "Returns …", "True if …".',
  },
  regexes: {
    run: async (isChecked) => {
      const files = listFiles(/\.(tsx?|mjs)$/).filter(
        (file) => isProduction(file) && isChecked(file) && !READS_OWN_TEXT.test(file),
      );
      return finds(await slowRegexes(files.flatMap((file) => regexesIn(file, readFileSync(join(ROOT, file), "utf8")))));
    },
    help:
      "recheck reports that these regular expressions may take more than linear time. Let a loop start only once, as in\n" +
      "/(?<!-)-+$/, exclude its end, as in /<[^<>]*>/, or use indexOf. If recheck cannot decide, or its text is fast in\n" +
      "Node.js, add a line to local/check/linear-regexes.txt: the hash, and why the expression is linear.",
  },
  files: {
    run: (isChecked) => finds(openedFiles(listFiles().filter(isChecked))),
    help:
      "A run of ffmpeg can leave a link or a pipe under any name: open files by encoder-node/run-files/open-file.ts.\n" +
      "A module that opens only files that no run could write is listed with its reason in local/check/opened-files.ts.",
  },
  defaults: {
    run: (isChecked) =>
      finds(
        listFiles(/^(?:worker\/(?:job\/state|dispatch|rpc)|shared\/protocol)\/.*(?<!\.test)\.ts$/)
          .filter((file) => isChecked(file) && readFileSync(join(ROOT, file), "utf8").includes(".default("))
          .map((file) => `${file} has a default`),
      ),
    help:
      "Frames and stored state have no field that an earlier build lacks: nothing was released. Make the field required,\n" +
      "and raise PROTOCOL_VERSION if nodes send or get it.",
  },
  map: {
    run: () => finds(mapErrors(readFileSync(join(ROOT, "docs/map.md"), "utf8"), listFiles())),
    help: "docs/map.md has one row for each folder, or names it in the row of a folder above it.",
  },
  links: {
    run: (isChecked) => {
      const names = listFiles();
      // `test/faults/killed-nodes` names killed-nodes.test.ts, as on vitest's command line.
      const exists = (path: string) =>
        existsSync(join(ROOT, path)) || names.some((name) => name.startsWith(`${path}.`));
      const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
      const files = listFiles(/\.md$/).filter(isChecked);
      return finds(files.flatMap((file) => brokenLinks(file, { exists, read })));
    },
    help: "These links and paths in Markdown lead nowhere.",
  },
  size: {
    run: () => finds(sizeOfRepository()),
    help:
      "local/check/ceiling.txt has the ceiling of lines that are not blank. Delete what the new lines replace. A ceiling\n" +
      "that must rise names its issue in the same line: `code 98000 #48 captions from speech`.",
  },
};

async function main(args: readonly string[]): Promise<boolean> {
  // The schemas may have changed, and the client's types are generated from them.
  await promisify(execFile)(process.execPath, [join(ROOT, "local/client/write-types.ts")], { cwd: ROOT });
  const paths = args.filter((name) => !Object.hasOwn(CHECKS, name));
  const selected = args.filter((name) => Object.hasOwn(CHECKS, name));
  const names = selected.length > 0 ? selected : Object.keys(CHECKS);
  const isChecked = (file: string) => paths.length === 0 || paths.some((path) => file.startsWith(path));

  const runs = names.map(async (name) => {
    const startedAt = performance.now();
    const outcome = await CHECKS[name]?.run(isChecked);
    return { ...outcome, seconds: (performance.now() - startedAt) / 1000 };
  });
  const failed: string[] = [];
  for (const [at, run] of runs.entries()) {
    const name = names[at] ?? "";
    const { passed, output, seconds } = await run;
    console.log(`${passed ? "passed" : "FAILED"}  ${name.padEnd(7)} ${seconds.toFixed(1)} s`);
    if (passed) continue;
    failed.push(name);
    console.log(`\n${output?.trimEnd()}\n\n${CHECKS[name]?.help}\n`);
  }
  console.log(failed.length === 0 ? "All checks passed." : `Failed: ${failed.join(", ")}.`);
  return failed.length === 0;
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
