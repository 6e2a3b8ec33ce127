// Loaded into a node with --import. The main thread hangs forever when it is about to probe a source with this text.
import childProcess from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

export const HANGING_SOURCE = "This source hangs the node that probes it.";

const { spawn } = childProcess;
childProcess.spawn = new Proxy(spawn, {
  apply(target, self, args: unknown[]) {
    const argv = Array.isArray(args[1]) ? args[1].map(String) : [];
    const paths = argv.flatMap((argument) => (argument.startsWith("file:") ? [argument.slice("file:".length)] : []));
    while (paths.some((path) => existsSync(path) && readFileSync(path, "latin1").startsWith(HANGING_SOURCE)));
    return Reflect.apply(target, self, args);
  },
});
syncBuiltinESMExports();
