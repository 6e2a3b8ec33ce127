// The systemd unit of an encoder node. Pure.

export type NodeUnit = {
  /** The program that runs the node: Node.js, then the script. */
  readonly command: readonly [node: string, script: string];
  /** Options of the node beside its token and its folder. */
  readonly options: readonly string[];
  /** The root's copy of the token, of which systemd gives the node one of its own. */
  readonly tokenFile: string;
  /** Groups of this machine that own its GPUs, such as `render`. */
  readonly gpuGroups: readonly string[];
  /** How long running work may continue when the service is stopped, in seconds. */
  readonly drainSeconds: number;
};

/** More than the node needs to hand back its work and to report it. */
const AFTER_DRAIN_SECONDS = 60;

/**
 * The text of `copra-node.service` (systemd.unit(5), systemd.exec(5)); needs systemd 250 or newer for `%d`. Without
 * WatchdogSec: Node.js has no datagram sockets of Unix for sd_notify(3), and the node's own watchdog acts sooner and
 * reports which lease it was.
 */
export function nodeUnit({ command, options, tokenFile, gpuGroups, drainSeconds }: NodeUnit): string {
  const node = ["--token-file", "%d/token", "--work", "%S/copra-node", "--drain-seconds", String(drainSeconds)];
  const start = [...command.map(quoted), ...node, ...options.map(quoted)].join(" ");
  return `[Unit]
Description=Copra encoder node
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart=${start}
# A node that the operator drained ends with 0, and stays ended. One that hangs is ended by its own watchdog.
Restart=on-failure
RestartSec=5
TimeoutStopSec=${drainSeconds + AFTER_DRAIN_SECONDS}
KillMode=mixed
DynamicUser=yes
StateDirectory=copra-node
StateDirectoryMode=0700
LoadCredential=token:${tokenFile}
${gpuGroups.length > 0 ? `SupplementaryGroups=${gpuGroups.join(" ")}\n` : ""}LimitNOFILE=65536
# The node creates namespaces to isolate ffmpeg: RestrictNamespaces= and PrivateUsers= would forbid it.
NoNewPrivileges=yes
CapabilityBoundingSet=
LockPersonality=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
RestrictSUIDSGID=yes

[Install]
WantedBy=multi-user.target
`;
}

/** A word of a command line as systemd reads it (systemd.service(5), "Command lines"). */
function quoted(word: string): string {
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@:,./=+-]+$/.test(word) ? escaped : `"${escaped}"`;
}
