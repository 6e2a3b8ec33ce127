// Commands for this machine.
import type { CommandSpec } from "../command-spec.ts";

export const SYSTEM_COMMANDS: readonly CommandSpec[] = [
  {
    name: "dev",
    summary: "Run the whole system on this machine; --watch restarts it when a source is saved",
    options: [{ flags: "--watch", description: "Restart on save" }],
    handlesSignals: true,
    load: async () => (await import("../system/repository.ts")).dev,
  },
  {
    name: "serve",
    summary: "Run the service on this machine, for production; all data is in one folder",
    options: [
      { flags: "--data <folder>", description: "Folder of all data (COPRA_HOME)", complete: "folder" },
      { flags: "--port <port>", description: "Port of API and dashboard; 8787 by default (COPRA_PORT)" },
      { flags: "--s3-port <port>", description: "Port of the S3 server; 9000 by default (COPRA_S3_PORT)" },
      { flags: "--nodes <number>", description: "Encoder nodes on this machine; 1 by default (COPRA_NODES)" },
      {
        flags: "--bind <address>",
        description: "127.0.0.1 (default), or 0.0.0.0 or :: for all interfaces (COPRA_BIND)",
        choices: ["127.0.0.1", "0.0.0.0", "::"],
      },
      {
        flags: "--public-url <url>",
        description: "URL for clients and other nodes, such as https://encode.example.com (COPRA_PUBLIC_URL)",
      },
      {
        flags: "--trusted-proxy <network>",
        description: "Proxy whose X-Forwarded-For is right, such as 10.0.0.0/8, or none (COPRA_TRUSTED_PROXIES)",
        repeat: true,
      },
      { flags: "--s3-url <url>", description: "URL of the S3 server for nodes on other machines (COPRA_S3_URL)" },
      { flags: "--no-s3", description: "Run no S3 server; without SCRATCH_ENDPOINT there is no ultrafast" },
      {
        flags: "--allow-private <networks>",
        description: "Private addresses that requests may name: none (default), loopback or all (COPRA_ALLOW_PRIVATE)",
        choices: ["none", "loopback", "all"],
      },
      {
        flags: "--isolation <level>",
        description: "Sandbox of ffmpeg: required (default on Linux) or best-effort (COPRA_NODE_ISOLATION)",
        choices: ["required", "best-effort"],
      },
      {
        flags: "--folder <name=path>",
        description: "Folder for sources and outputs of all accounts, such as media=/mnt/nas/media (COPRA_FOLDERS)",
        repeat: true,
      },
      {
        flags: "--cluster <s3-url>",
        description: "Experimental: join the cluster whose state is in this bucket, s3://bucket/prefix (COPRA_CLUSTER)",
      },
      {
        flags: "--cluster-address <address:port>",
        description: "Private address at which this instance listens for the others (COPRA_CLUSTER_ADDRESS)",
      },
      {
        flags: "--cluster-advertise <host:port>",
        description: "How the others reach it, if not at that address: behind NAT (COPRA_CLUSTER_ADVERTISE)",
      },
      { flags: "--insecure-http", description: "Start without TLS, in a network that only you use" },
      {
        flags: "--log <place>",
        description: "Logs of the processes: files in the folder (default) or stderr (COPRA_LOG)",
        choices: ["files", "stderr"],
      },
      {
        flags: "--drain-seconds <seconds>",
        description: "How long tasks may go on when it is stopped; 20 by default (COPRA_DRAIN_SECONDS)",
      },
    ],
    examples: [
      "copra serve --data /srv/copra",
      "copra serve --data /srv/copra --bind 0.0.0.0 --public-url https://encode.example.com --trusted-proxy 10.0.0.2",
    ],
    handlesSignals: true,
    load: async () => (await import("../system/serve.ts")).serve,
  },
  {
    name: "backup",
    summary: "Write all data of copra serve into one file, also while it runs",
    arguments: [{ name: "<data>", description: "The folder of copra serve", complete: "folder" }],
    options: [{ flags: "-o, --output <file>", description: "The file to write", complete: "file" }],
    examples: ["copra backup /srv/copra -o copra.tar.gz"],
    load: async () => (await import("../system/backup.ts")).backup,
  },
  {
    name: "restore",
    summary: "Make the folder of copra serve from a backup",
    arguments: [
      { name: "<backup>", description: "File of copra backup, or a folder in <data>/snapshots", complete: "file" },
      { name: "<data>", description: "The folder of copra serve", complete: "folder" },
    ],
    options: [{ flags: "--replace", description: "Move data that is there aside" }],
    examples: ["copra restore copra.tar.gz /srv/copra"],
    load: async () => (await import("../system/backup.ts")).restore,
  },
  {
    name: "node run",
    summary: "Run an encoder node, as copra node does with options",
    handlesSignals: true,
    load: async () => (await import("../system/repository.ts")).node,
  },
  {
    name: "node install",
    summary: "Make an encoder node a service of systemd (root)",
    options: [
      { flags: "--token-file <file>", description: "File with the node token; or COPRA_NODE_TOKEN", complete: "file" },
      { flags: "--name <name>", description: "Name of the node" },
      { flags: "--slots <number>", description: "Encodes at the same time" },
      { flags: "--pool <pool>", description: "The pool that the token must bind" },
      { flags: "--label <label>", description: "A label, such as ssd; may be repeated", repeat: true },
      { flags: "--hw <hardware>", description: "Hardware encoders; auto by default" },
      { flags: "--isolation <level>", description: "Sandbox of ffmpeg", choices: ["required", "best-effort"] },
      { flags: "--drain-seconds <seconds>", description: "How long work may go on when it is stopped; 600 by default" },
      { flags: "--print", description: "Print the unit, and install nothing" },
    ],
    examples: ["copra node install --url https://encode.example.com --token-file node-token"],
    load: async () => (await import("../system/node-service.ts")).installNode,
  },
  {
    name: "node uninstall",
    summary: "Stop and remove the service of the encoder node (root)",
    handlesSignals: true,
    load: async () => (await import("../system/node-service.ts")).uninstallNode,
  },
  {
    name: "dashboard",
    summary: "Print a link that signs in to the dashboard once, within a minute",
    options: [{ flags: "--open", description: "Open it in the browser of this machine, too" }],
    examples: ["copra dashboard", "copra dashboard --open"],
    load: async () => (await import("../system/dashboard.ts")).dashboard,
  },
  {
    name: "deploy",
    summary: "Deploy the service to Cloudflare, with all that it needs there",
    options: [{ flags: "--dry-run", description: "Build the Worker, and change nothing" }],
    handlesSignals: true,
    load: async () => (await import("../system/repository.ts")).deploy,
  },
  {
    name: "doctor",
    summary: "Check this machine and the connection to the service",
    load: async () => (await import("../system/doctor.ts")).doctor,
  },
];
