// A helper program (isolated.ts): runs a single parser. Reads the parser's name and arguments from standard input, and
// writes the result to standard output.
import { writeFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { deserialize, serialize } from "node:v8";
import { runParser } from "./run-parser.ts";

// When memory is short, the kernel ends this process and not the node.
await writeFile("/proc/self/oom_score_adj", "1000").catch(() => undefined);
process.stdout.write(serialize(await runParser(deserialize(await buffer(process.stdin)))));
