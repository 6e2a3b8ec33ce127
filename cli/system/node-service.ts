// copra node install and copra node uninstall: manage the encoder node as a systemd service.
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "#shared/log.ts";
import type { Run } from "../command-spec.ts";
import { listOption, numberOption, type Options, textOption } from "../context.ts";
import { CommandError, EXIT, usageError } from "../exit.ts";
import { readText } from "../read-json.ts";
import { nodeUnit } from "./node-unit.ts";
import { findRepository, nodeCommand } from "./repository.ts";

const SERVICE = "copra-node.service";
const UNIT_FILE = `/etc/systemd/system/${SERVICE}`;
const TOKEN_FILE = "/etc/copra/node-token";
const DRAIN_SECONDS = 600;
/** Groups that own GPU devices in common distributions. */
const GPU_GROUPS = ["render", "video"];

/** Options that are passed to the node unchanged. */
const PASSED_ON = ["name", "slots", "pool", "hw", "isolation"] as const;

export const installNode: Run = async ({ output, env, globals }, _args, options) => {
  const unit = unitOf(textOption(globals, "url") ?? env.COPRA_URL, options);
  if (options.print === true) {
    output.raw(unit);
    return EXIT.done;
  }
  requireSystemd();
  const token = tokenOf(options, env.COPRA_NODE_TOKEN);
  requireReadable(findRepository());
  mkdirSync(dirname(TOKEN_FILE), { recursive: true });
  writeFileSync(TOKEN_FILE, `${token}\n`, { mode: 0o600 });
  chmodSync(TOKEN_FILE, 0o600);
  writeFileSync(UNIT_FILE, unit);
  await systemctl("daemon-reload");
  await systemctl("enable", SERVICE);
  await systemctl("restart", SERVICE);
  output.words(`The node runs as ${SERVICE}. Its log: journalctl -u ${SERVICE} -f; its end: systemctl stop ${SERVICE}`);
};

/** Waits until running work has ended or was handed back. */
export const uninstallNode: Run = async ({ output }) => {
  requireSystemd();
  if (!existsSync(UNIT_FILE)) throw new CommandError(EXIT.notFound, `There is no ${UNIT_FILE}: nothing is installed`);
  output.words("Waiting for the node's running work …");
  await systemctl("disable", "--now", SERVICE);
  rmSync(UNIT_FILE);
  rmSync(TOKEN_FILE, { force: true });
  await systemctl("daemon-reload");
  output.words("The node is no longer a service. Revoke its token with copra node-tokens revoke.");
};

/** Returns the unit for these options. Throws a usage error that names a missing option. */
function unitOf(url: string | undefined, options: Options): string {
  if (url === undefined) throw usageError("Give the URL of the control plane: --url https://copra.example.com");
  const passed = PASSED_ON.flatMap((name) => {
    const value = textOption(options, name);
    return value === undefined ? [] : [`--${name}`, value];
  });
  const labels = listOption(options, "label").flatMap((label) => ["--label", label]);
  return nodeUnit({
    command: nodeCommand(),
    options: ["--url", url, ...passed, ...labels],
    tokenFile: TOKEN_FILE,
    gpuGroups: GPU_GROUPS.filter(hasGroup),
    drainSeconds: numberOption(options, "drainSeconds", "--drain-seconds") ?? DRAIN_SECONDS,
  });
}

function hasGroup(name: string): boolean {
  return readFileSync("/etc/group", "utf8").includes(`\n${name}:`);
}

function tokenOf(options: Options, inEnvironment: string | undefined): string {
  const file = textOption(options, "tokenFile");
  const token = file === undefined ? inEnvironment : readText(file);
  if (token?.trim()) return token.trim();
  throw usageError(
    "Give the node token: --token-file <file>, or COPRA_NODE_TOKEN (create it with copra node-tokens create)",
  );
}

function requireSystemd(): void {
  if (process.platform !== "linux" || !existsSync("/run/systemd/system")) {
    throw new CommandError(EXIT.failed, "systemd does not run on this machine; --print shows the unit");
  }
  if (process.getuid?.() !== 0) throw new CommandError(EXIT.notAllowed, "Only root may install services: use sudo");
}

/** Throws if the folder is not readable by everybody: the service runs under a dynamic user. */
function requireReadable(folder: string): void {
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    if ((statSync(at).mode & 0o005) === 0o005) continue;
    throw new CommandError(
      EXIT.failed,
      `The service's user cannot read ${at}. Move the repository to a folder that all may read, such as /opt/copra`,
    );
  }
}

async function systemctl(...args: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)("systemctl", [...args]);
  } catch (error) {
    throw new CommandError(EXIT.failed, `systemctl ${args.join(" ")} failed: ${messageOf(error)}`);
  }
}
