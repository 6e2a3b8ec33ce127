// Hardware encoders that really work: a GPU, its driver and ffmpeg's support for both may be there, and still none does.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { hardwareTrial } from "#shared/plan/encoders/encoders.ts";
import {
  HARDWARE_CODECS,
  HARDWARE_NAMES,
  type HardwareCodec,
  type HardwareDevice,
  type HardwareName,
  hardwareEncoder,
} from "#shared/plan/encoders/hardware.ts";
import type { Hardware } from "#shared/protocol/protocol.ts";
import { listEncoders } from "./listings.ts";
import type { Tool } from "./locate.ts";
import { runTrials, type TrialResult } from "./trial.ts";

/** `auto`: what works, if anything does; `off`: none, and no device is touched; else this one or nothing. */
export const HARDWARE_CHOICES = ["auto", "off", ...HARDWARE_NAMES] as const;
export type HardwareChoice = (typeof HARDWARE_CHOICES)[number];

export type HardwareFinding = {
  readonly hardware: Hardware | null;
  /** What was tried and does not work, and why: a clause for each reason. */
  readonly refusals: readonly string[];
};

/** Where to look and for how long, for tests. */
export type HardwareSearch = { readonly driFolder: string; readonly limitMs?: number };
const THIS_MACHINE: HardwareSearch = { driFolder: "/dev/dri" };

/**
 * The first hardware with an encoder that works, found by encoding a frame with each. Takes about half a second where
 * there is no GPU, and 10 s for each device whose driver hangs. It is for the start, and for looking again after
 * failures. Throws AppError `encoder_not_available` when ffmpeg cannot list its encoders.
 */
export async function findHardware(
  ffmpeg: Tool,
  choice: HardwareChoice,
  search: HardwareSearch = THIS_MACHINE,
): Promise<HardwareFinding> {
  if (choice === "off") return { hardware: null, refusals: [] };
  const listed = await listEncoders(ffmpeg);
  const refusals: string[] = [];
  for (const name of choice === "auto" ? HARDWARE_NAMES : [choice]) {
    const codecs = HARDWARE_CODECS.filter((codec) => listed.has(hardwareEncoder(codec, name)));
    const devices = codecs.length > 0 ? await devicesFor(name, search.driFolder) : [];
    if (codecs.length === 0) refusals.push(`${name}: ffmpeg was built without`);
    else if (devices.length === 0) refusals.push(`${name}: there is no ${search.driFolder}/renderD*`);
    for (const device of devices) {
      const results = await tryDevice(ffmpeg, device, codecs, search.limitMs);
      refusals.push(...explain(device, results));
      const usable = results.flatMap(([codec, result]) => (isThere(result) ? [hardwareEncoder(codec, name)] : []));
      if (usable.length > 0) return { hardware: { ...device, encoders: usable }, refusals };
    }
  }
  return { hardware: null, refusals };
}

/** The devices that an interface can be led to; NVENC and VideoToolbox choose for themselves. */
async function devicesFor(name: HardwareName, driFolder: string): Promise<HardwareDevice[]> {
  const itself = [{ name, path: null }];
  if (name === "nvenc" || name === "videotoolbox") return itself;
  if (name === "qsv" && process.platform === "win32") return itself;
  const files = await readdir(driFolder).catch(() => []);
  const nodes = files.filter((file) => /^renderD\d+$/.test(file)).toSorted();
  return nodes.map((file) => ({ name, path: join(driFolder, file) }));
}

type CodecResult = [HardwareCodec, TrialResult];

/** All codecs at once; those that found the device busy again one by one, lest the trials were in each other's way. */
async function tryDevice(
  ffmpeg: Tool,
  device: HardwareDevice,
  codecs: readonly HardwareCodec[],
  limitMs: number | undefined,
): Promise<CodecResult[]> {
  const trialOf = (codec: HardwareCodec): string[] => hardwareTrial(codec, device);
  const results: CodecResult[] = [];
  for (const [codec, result] of await runTrials(ffmpeg, codecs, trialOf, limitMs)) {
    if (!result.works && result.busy) results.push(...(await runTrials(ffmpeg, [codec], trialOf, limitMs)));
    else results.push([codec, result]);
  }
  return results;
}

/** An encoder that is busy exists: an encode that meets it busy as well goes the way of every failure of hardware. */
const isThere = (result: TrialResult): boolean => result.works || result.busy;

/** One clause for each reason, with the encoders that it holds for. */
function explain({ name, path }: HardwareDevice, results: readonly CodecResult[]): string[] {
  const failed = results.flatMap(([codec, result]) =>
    result.works ? [] : [{ encoder: hardwareEncoder(codec, name), reason: result.busy ? BUSY : result.reason }],
  );
  const byReason = Map.groupBy(failed, ({ reason }) => reason);
  const where = path === null ? "" : ` at ${path}`;
  return [...byReason].map(([reason, of]) => `${of.map(({ encoder }) => encoder).join(", ")}${where}: ${reason}`);
}

const BUSY = "busy, counted as usable";
