// How this node was started: flags, with the environment behind them.
import { parseArgs } from "node:util";
import * as z from "zod";
import { HARDWARE_CHOICES, type HardwareChoice } from "./ffmpeg/build/hardware.ts";
import { ISOLATION_CHOICES, type IsolationChoice } from "./ffmpeg/isolation-start.ts";
import { readTokenFile } from "./token.ts";

/** Transfers, which wait for the network; of those that have come a few at a time are looked at (node.ts). */
const INSPECT_SLOTS = 32;
/** A hello names all that runs (MAX_LEASES): transfers, encodes, and what they left to upload. */
const MAX_ENCODE_SLOTS = 60;

const Config = z.object({
  url: z.url({ protocol: /^https?$/, error: "--url must be the http or https address of the control plane" }),
  token: z
    .string("The node token is missing: give it in COPRA_NODE_TOKEN or by --token-file")
    .min(1, "The node token is empty: give it in COPRA_NODE_TOKEN or by --token-file"),
  work: z.string(),
  name: z.string().max(64).optional(),
  "allow-private": z.enum(["none", "loopback", "all"], "--allow-private must be none, loopback or all"),
  slots: z.coerce
    .number("--slots must be a number")
    .int()
    .min(1, "--slots must be 1 or more")
    .max(MAX_ENCODE_SLOTS, `--slots must be ${MAX_ENCODE_SLOTS} or less`),
  hw: z.enum(HARDWARE_CHOICES, `--hw (COPRA_NODE_HW) must be one of ${HARDWARE_CHOICES.join(", ")}`),
  isolation: z.enum(ISOLATION_CHOICES, "--isolation (COPRA_NODE_ISOLATION) must be required or best-effort"),
  "max-source-gib": z.coerce.number("--max-source-gib must be a number").positive(),
  "drain-seconds": z.coerce.number("--drain-seconds must be a number").min(0),
});

export const USAGE = `Usage: npm run node -- --url <control plane> --token-file <file> [options]

  --url             address of the control plane, such as https://copra.example.workers.dev   (COPRA_URL)
  --token-file      file with the node token, made by the operator; or the token itself in COPRA_NODE_TOKEN
  --work            folder for sources and work in progress          (COPRA_NODE_WORK, default .copra-node)
  --name            what this node is called; default: an id kept in its work folder
  --slots           encodes at the same time                         (default 1: one ffmpeg uses all cores)
  --hw              hardware encoders: auto, off, nvenc, qsv, vaapi or videotoolbox     (COPRA_NODE_HW, default auto)
  --allow-private   private addresses of sources and storages: none, loopback or all           (default none)
  --isolation       what runs ffmpeg: required (the whole sandbox, or no start) or best-effort (what works here, with a
                    warning)                                (COPRA_NODE_ISOLATION, default required on Linux)
  --max-source-gib  largest source that is fetched, in GiB                                     (default 100)
  --drain-seconds   how long running work may go on after SIGTERM                              (default 600)`;

export type NodeConfig = {
  url: string;
  token: string;
  workFolder: string;
  name: string | null;
  allowPrivate: "none" | "loopback" | "all";
  slots: { inspect: number; encode: number };
  hw: HardwareChoice;
  isolation: IsolationChoice;
  maxSourceBytes: number;
  drainMs: number;
};

/** Parses flags and environment. Throws a sentence that names what is wrong. */
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
      slots: text,
      hw: text,
      "max-source-gib": text,
      "drain-seconds": text,
    },
  });
  const file = values["token-file"];
  const parsed = Config.safeParse({
    url: env.COPRA_URL,
    token: file === undefined ? env.COPRA_NODE_TOKEN : readTokenFile(file),
    work: env.COPRA_NODE_WORK ?? ".copra-node",
    "allow-private": "none",
    slots: 1,
    hw: env.COPRA_NODE_HW || "auto",
    isolation: env.COPRA_NODE_ISOLATION || (process.platform === "linux" ? "required" : "best-effort"),
    "max-source-gib": 100,
    "drain-seconds": 600,
    ...values,
  });
  if (!parsed.success) throw new Error(parsed.error.issues.map((issue) => issue.message).join("\n"));
  const config = parsed.data;
  return {
    url: config.url.replace(/\/+$/, ""),
    token: config.token,
    workFolder: config.work,
    name: config.name ?? null,
    allowPrivate: config["allow-private"],
    slots: { inspect: INSPECT_SLOTS, encode: config.slots },
    hw: config.hw,
    isolation: config.isolation,
    maxSourceBytes: config["max-source-gib"] * 2 ** 30,
    drainMs: config["drain-seconds"] * 1000,
  };
}
