// Finds by trial the hardware encoders that work. A GPU, its driver and ffmpeg's support may all exist and still fail.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  HARDWARE_CODECS,
  type HardwareCodec,
  type HardwareDevice,
  hardwareEncoder,
  hardwareTrial,
} from "#shared/plan/encoders/hardware.ts";
import { HARDWARE_NAMES, type Hardware, type HardwareName } from "#shared/protocol/capabilities.ts";
import { listEncoders } from "./listings.ts";
import type { Tool } from "./locate.ts";
import { NOT_BUILT_IN } from "./software-encoders.ts";
import { runTrials, type TrialResult } from "./trial.ts";

/** `auto`: the first hardware that works, if any. `off`: none, and no device is opened. A name: only that hardware. */
export const HARDWARE_CHOICES = ["auto", "off", ...HARDWARE_NAMES] as const;
export type HardwareChoice = (typeof HARDWARE_CHOICES)[number];

export type HardwareFinding = {
  readonly hardware: Hardware | null;
  /** Reasons why hardware does not work, each a clause. */
  readonly failures: readonly string[];
};

/** Overrides the device folder and the time limit, for tests. */
export type HardwareSearch = { readonly driFolder: string; readonly limitMs?: number };
const THIS_MACHINE: HardwareSearch = { driFolder: "/dev/dri" };

/**
 * Finds the first hardware with a working encoder by encoding a frame with each. Takes about half a second without a
 * GPU, and 10 s for each device whose driver hangs. The node calls it at its start and after hardware failures. Throws
 * AppError `encoder_not_available` when ffmpeg cannot list its encoders.
 */
export async function findHardware(
  ffmpeg: Tool,
  choice: HardwareChoice,
  search: HardwareSearch = THIS_MACHINE,
): Promise<HardwareFinding> {
  if (choice === "off") return { hardware: null, failures: [] };
  const listed = await listEncoders(ffmpeg);
  const failures: string[] = [];
  for (const name of choice === "auto" ? HARDWARE_NAMES : [choice]) {
    const codecs = HARDWARE_CODECS.filter((codec) => listed.has(hardwareEncoder(codec, name)));
    const devices = codecs.length > 0 ? await devicesFor(name, search.driFolder) : [];
    if (codecs.length === 0) failures.push(`${name}: ${NOT_BUILT_IN}`);
    else if (devices.length === 0) failures.push(`${name}: no device ${search.driFolder}/renderD*`);
    for (const device of devices) {
      const results = await tryDevice(ffmpeg, device, codecs, search.limitMs);
      failures.push(...explain(device, results));
      const usable = results.flatMap(([codec, result]) => (isUsable(result) ? [hardwareEncoder(codec, name)] : []));
      if (usable.length > 0) return { hardware: { ...device, encoders: usable }, failures };
    }
  }
  return { hardware: null, failures };
}

/** The devices to try. NVENC and VideoToolbox choose the device themselves. */
async function devicesFor(name: HardwareName, driFolder: string): Promise<HardwareDevice[]> {
  const automatic = [{ name, path: null }];
  if (name === "nvenc" || name === "videotoolbox") return automatic;
  if (name === "qsv" && process.platform === "win32") return automatic;
  const files = await readdir(driFolder).catch(() => []);
  const nodes = files.filter((file) => /^renderD\d+$/.test(file)).toSorted();
  return nodes.map((file) => ({ name, path: join(driFolder, file) }));
}

type CodecResult = [HardwareCodec, TrialResult];

/**
 * Tries all codecs at once. Then tries each codec that found the device busy again alone, because parallel trials may
 * have blocked each other.
 */
async function tryDevice(
  ffmpeg: Tool,
  device: HardwareDevice,
  codecs: readonly HardwareCodec[],
  limitMs: number | undefined,
): Promise<CodecResult[]> {
  const trialOf = (codec: HardwareCodec): string[] => hardwareTrial(codec, device);
  const results: CodecResult[] = [];
  const options = { limitMs, inHardware: true };
  for (const [codec, result] of await runTrials(ffmpeg, codecs, trialOf, options)) {
    if (!result.works && result.busy) results.push(...(await runTrials(ffmpeg, [codec], trialOf, options)));
    else results.push([codec, result]);
  }
  return results;
}

/** A busy encoder exists. An encode that also finds it busy is handled like every other hardware failure. */
const isUsable = (result: TrialResult): boolean => result.works || result.busy;

/** Returns a clause for each reason, with the encoders that it applies to. */
function explain({ name, path }: HardwareDevice, results: readonly CodecResult[]): string[] {
  const failed = results.flatMap(([codec, result]) =>
    result.works ? [] : [{ encoder: hardwareEncoder(codec, name), reason: result.busy ? BUSY : result.reason }],
  );
  const byReason = Map.groupBy(failed, ({ reason }) => reason);
  const where = path === null ? "" : ` at ${path}`;
  return [...byReason].map(([reason, of]) => `${of.map(({ encoder }) => encoder).join(", ")}${where}: ${reason}`);
}

const BUSY = "busy, counted as usable";
