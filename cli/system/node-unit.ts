// The systemd unit of an encoder node. Pure.

export type NodeUnit = {
  /** The program that runs the node: Node.js, then the script. */
  readonly command: readonly [node: string, script: string];
  /** Options of the node other than its token and folder. */
  readonly options: readonly string[];
  /** Root's copy of the token. systemd passes it to the node as a credential. */
  readonly tokenFile: string;
  /** Groups of this machine that own its GPUs, such as `render`. */
  readonly gpuGroups: readonly string[];
  /** Seconds that running work may continue after the service is stopped. */
  readonly drainSeconds: number;
};

/** Extra time, more than the node needs to hand back and report its work. */
const AFTER_DRAIN_SECONDS = 60;

/**
 * Returns the text of `copra-node.service` (systemd.unit(5), systemd.exec(5)). `%d` needs systemd 250 or newer. There
 * is no WatchdogSec: Node.js has no Unix datagram sockets for sd_notify(3). The node's own watchdog acts sooner and
 * reports the lease.
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
# A node that the operator drained ends with 0, and stays ended. The watchdog of a node that hangs ends it.
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

/** Quotes a word of a command line for systemd (systemd.service(5), "Command lines"). */
function quoted(word: string): string {
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@:,./=+-]+$/.test(word) ? escaped : `"${escaped}"`;
}
