// The configuration of a node, from flags and environment variables.
import { parseArgs } from "node:util";
import * as z from "zod";
import type { LogLevel } from "#shared/log.ts";
import { type AllowPrivate, withOrigins } from "#shared/network/address-policy.ts";
import { Labels, PoolName } from "#shared/placement.ts";
import { ISOLATION_CHOICES, type IsolationChoice } from "./ffmpeg/check-isolation.ts";
import { HARDWARE_CHOICES, type HardwareChoice } from "./ffmpeg/discover/hardware.ts";
import { type FolderOption, parseFolderOption } from "./folders/node-folders.ts";
import { type HealthAddress, parseHealthAddress } from "./health.ts";
import { readTokenFile } from "./token.ts";
import { readTraceExport, type TraceExport } from "./tracing/export-settings.ts";
import { parseHours, type WorkingHours } from "./working-hours.ts";

/** Transfers mostly wait for the network. Only a few sources are probed at a time (node.ts). */
const INSPECT_SLOTS = 32;
/** A node runs at most 64 leases (node.ts): transfers, encodes, and uploads. */
const MAX_ENCODE_SLOTS = 60;

/** Google Cloud and Azure take a spot machine away 30 s after their notice. */
const DRAIN_SECONDS = { spot: 25, other: 600 } as const;

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly LogLevel[];

const Config = z.object({
  url: z.url({ protocol: /^https?$/, error: "--url must be the http or https URL of the control plane" }),
  token: z
    .string("The node token is missing: set COPRA_NODE_TOKEN or use --token-file")
    .min(1, "The node token is empty: set COPRA_NODE_TOKEN or use --token-file"),
  work: z.string(),
  name: z.string().max(64).optional(),
  "allow-private": z.enum(["none", "loopback", "all"], "--allow-private must be none, loopback or all"),
  "allow-origin": z.array(
    z.url({ protocol: /^https?$/, error: "--allow-origin must be an http or https URL, such as http://10.0.0.5:9000" }),
  ),
  slots: z.coerce
    .number("--slots must be a number")
    .int()
    .min(1, "--slots must be 1 or more")
    .max(MAX_ENCODE_SLOTS, `--slots must be ${MAX_ENCODE_SLOTS} or less`),
  hw: z.enum(HARDWARE_CHOICES, `--hw (COPRA_NODE_HW) must be one of ${HARDWARE_CHOICES.join(", ")}`),
  isolation: z.enum(ISOLATION_CHOICES, "--isolation (COPRA_NODE_ISOLATION) must be required or best-effort"),
  "log-level": z.enum(LOG_LEVELS, `--log-level (LOG_LEVEL) must be one of ${LOG_LEVELS.join(", ")}`),
  "max-source-gib": z.coerce.number("--max-source-gib must be a number").positive(),
  "drain-seconds": z.coerce.number("--drain-seconds must be a number").min(0).optional(),
  pool: PoolName.optional(),
  label: Labels,
  spot: z.boolean(),
  hours: z
    .string()
    .transform(parseHours)
    .refine((hours) => hours !== null, "--hours must be two times of the day, such as 22-7 or 22:30-6:15")
    .optional(),
  "exit-when-idle": z.coerce
    .number("--exit-when-idle must be a number of seconds")
    .min(1, "--exit-when-idle must be 1 or more")
    .optional(),
  "health-port": z
    .string()
    .transform(parseHealthAddress)
    .refine((address) => address !== null, "--health-port must be a port, or address:port such as 0.0.0.0:8788")
    .nullable(),
  fonts: z.string().nullable(),
  speech: z.string().nullable(),
  folder: z.array(
    z
      .string()
      .transform(parseFolderOption)
      .refine(
        (option) => option !== null,
        "--folder (COPRA_FOLDERS) must be name=/absolute/path or name=/absolute/path:ro",
      ),
  ),
});

export const USAGE = `Usage: npm run node -- --url <control plane> --token-file <file> [options]

  --url             URL of the control plane, such as https://copra.example.workers.dev       (COPRA_URL)
  --token-file      file with the node token that the operator created; or set COPRA_NODE_TOKEN to the token
  --work            folder for sources and work in progress          (COPRA_NODE_WORK, default .copra-node)
  --name            name of this node                                (default: the machine's name)
  --slots           encodes at the same time                         (default 1: one ffmpeg uses all cores)
  --hw              hardware encoders: auto, off, nvenc, qsv, vaapi or videotoolbox     (COPRA_NODE_HW, default auto)
  --allow-private   private addresses of sources and storages: none, loopback or all           (default none)
  --allow-origin    an origin of the operator's own storage that may be at a private address, such as
                    http://10.0.0.5:9000; may be repeated
  --isolation       sandbox of ffmpeg: required (do not start without the full sandbox) or best-effort (use the working parts,
                    with a warning)                         (COPRA_NODE_ISOLATION, default required on Linux)
  --log-level       debug, info, warn or error                                     (LOG_LEVEL, default info)
  --max-source-gib  largest source that is fetched, in GiB                                     (default 100)
  --drain-seconds   how long running work may continue after SIGTERM           (default 600, with --spot 25)
  --pool            the pool that the token must bind: without it the node is in its token's pool   (COPRA_NODE_POOL)
  --label           a label, such as gpu or region:eu; may be repeated     (COPRA_NODE_LABELS, separated by commas)
  --spot            the machine may be taken away at any time: after SIGTERM, work that cannot end within
                    --drain-seconds is handed back at once                                     (COPRA_NODE_SPOT=1)
  --hours           takes work only in these hours of the day, such as 22-7 or 22:30-6:15; running work continues
                    after them                                     (COPRA_NODE_HOURS, default: always)
  --exit-when-idle  ends the node after so many seconds without work    (COPRA_NODE_EXIT_WHEN_IDLE, default: never)
  --health-port     port, or address:port, that answers GET /health and /health/ready   (COPRA_NODE_HEALTH_PORT)
  --fonts           folder with TTF and OTF files for burnt-in captions                     (COPRA_NODE_FONTS)
  --speech          file with a model of Whisper, such as ggml-base.bin: the node makes captions from speech
                    (docs/speech.md)                                                       (COPRA_NODE_SPEECH)
  --folder          a folder for sources and outputs, such as media=/mnt/nas/media, or media=/mnt/nas/media:ro for
                    sources only; may be repeated              (COPRA_FOLDERS, separated by commas)

The variables of OpenTelemetry, such as OTEL_EXPORTER_OTLP_ENDPOINT, export the spans of tasks.`;

export type NodeConfig = {
  url: string;
  token: string;
  workFolder: string;
  name: string | null;
  allowPrivate: AllowPrivate;
  slots: { inspect: number; encode: number };
  hw: HardwareChoice;
  isolation: IsolationChoice;
  logLevel: LogLevel;
  maxSourceBytes: number;
  drainMs: number;
  /** The pool that the token must bind; null: any. */
  pool: string | null;
  /** Labels in addition to the token's labels; sorted and distinct. */
  labels: readonly string[];
  /** True if the machine may be taken away at any time. */
  spot: boolean;
  /** Hours in which the node takes work; null: always. */
  hours: WorkingHours | null;
  /** Null: the node runs until it is stopped. */
  exitWhenIdleMs: number | null;
  /** Address at which probes are answered; null: the node opens no port. */
  health: HealthAddress | null;
  /** Folder with fonts for captions; null: only the packaged fonts. */
  fontsFolder: string | null;
  /** File with the model of speech recognition; null: none. */
  speechModel: string | null;
  /** Folders for sources and outputs. */
  folders: readonly FolderOption[];
  /** Receiver of spans; null: spans are not exported. */
  tracing: TraceExport | null;
};

const SWITCHED_ON: ReadonlySet<string> = new Set(["1", "true"]);

/** Pools and labels have the same messages as in requests: the messages do not name the flag. */
const messageOfIssue = ({ path: [flag = ""], message }: z.core.$ZodIssue): string =>
  message.startsWith("must") ? `--${String(flag)} ${message}` : message;

/** Parses flags and environment. Throws an error whose message names each invalid setting. */
export function readConfig(args: readonly string[], env: Readonly<Record<string, string | undefined>>): NodeConfig {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: text,
      token: text,
      "token-file": text,
      isolation: text,
      work: text,
      name: text,
      "allow-private": text,
      "allow-origin": { type: "string", multiple: true },
      slots: text,
      hw: text,
      "log-level": text,
      "max-source-gib": text,
      "drain-seconds": text,
      pool: text,
      label: { type: "string", multiple: true },
      spot: { type: "boolean" },
      hours: text,
      "exit-when-idle": text,
      "health-port": text,
      fonts: text,
      speech: text,
      folder: { type: "string", multiple: true },
    },
  });
  const file = values["token-file"];
  const parsed = Config.safeParse({
    url: env.COPRA_URL,
    token: file === undefined ? env.COPRA_NODE_TOKEN : readTokenFile(file),
    work: env.COPRA_NODE_WORK ?? ".copra-node",
    "allow-private": "none",
    "allow-origin": [],
    slots: 1,
    hw: env.COPRA_NODE_HW || "auto",
    isolation: env.COPRA_NODE_ISOLATION || (process.platform === "linux" ? "required" : "best-effort"),
    "log-level": env.LOG_LEVEL || "info",
    "max-source-gib": 100,
    pool: env.COPRA_NODE_POOL || undefined,
    label: (env.COPRA_NODE_LABELS ?? "").split(",").filter((label) => label !== ""),
    spot: SWITCHED_ON.has(env.COPRA_NODE_SPOT ?? ""),
    hours: env.COPRA_NODE_HOURS || undefined,
    "exit-when-idle": env.COPRA_NODE_EXIT_WHEN_IDLE || undefined,
    "health-port": env.COPRA_NODE_HEALTH_PORT || null,
    fonts: env.COPRA_NODE_FONTS || null,
    speech: env.COPRA_NODE_SPEECH || null,
    folder: (env.COPRA_FOLDERS ?? "").split(",").filter((folder) => folder !== ""),
    ...values,
  });
  if (!parsed.success) throw new Error(parsed.error.issues.map(messageOfIssue).join("\n"));
  const config = parsed.data;
  return {
    url: config.url.replace(/(?<!\/)\/+$/, ""),
    token: config.token,
    workFolder: config.work,
    name: config.name ?? null,
    allowPrivate: withOrigins(
      config["allow-private"],
      config["allow-origin"].map((url) => new URL(url).origin),
    ),
    slots: { inspect: INSPECT_SLOTS, encode: config.slots },
    hw: config.hw,
    isolation: config.isolation,
    logLevel: config["log-level"],
    maxSourceBytes: config["max-source-gib"] * 2 ** 30,
    drainMs: (config["drain-seconds"] ?? DRAIN_SECONDS[config.spot ? "spot" : "other"]) * 1000,
    pool: config.pool ?? null,
    labels: config.label,
    spot: config.spot,
    hours: config.hours ?? null,
    exitWhenIdleMs: config["exit-when-idle"] === undefined ? null : config["exit-when-idle"] * 1000,
    health: config["health-port"],
    fontsFolder: config.fonts,
    speechModel: config.speech,
    folders: config.folder.flatMap((option) => option ?? []),
    tracing: readTraceExport(env),
  };
}
