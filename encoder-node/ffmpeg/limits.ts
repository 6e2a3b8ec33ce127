// How much a run of ffmpeg or ffprobe may take before it is ended: more than honest work needs, and never without end. Pure.
import { HARDWARE_NAMES } from "#shared/plan/encoders/hardware.ts";

export type RunLimits = {
  /** From start to end. */
  readonly wallMs: number;
  /** Of all threads together. The kernel counts it, so it holds even when this process is stuck. */
  readonly cpuSeconds: number;
  /** Of the address space, which is what the kernel can limit; null: no limit. */
  readonly memoryBytes: number | null;
  /** Of each file that is written. */
  readonly fileBytes: number;
  /** What it means to reach that: more than any such output has, or all that the disk has room for. */
  readonly fileBreach: "file" | "disk";
};

/** The limit that ended a run: `time` by the clock or of the processors, `disk` when the node has next to none left. */
export type Breach = "frames" | "time" | "file" | "disk";

const HOUR_MS = 3_600_000;
const GIB = 2 ** 30;

/** A chunk of a second may need an hour: two passes of AV1 at 8192x4320 make a frame in some ten seconds on two cores. */
const FLOOR_MS = HOUR_MS;
/** Per ms of the longest output. A whole ladder up to 2160p in VP9 on two cores takes some 150. */
const WALL_FACTOR = 200;
/** Longer than any film takes that is worth waiting for, and what a run may take whose length nobody knows. */
const CEILING_MS = 7 * 24 * HOUR_MS;
const UNKNOWN_MS = 48 * HOUR_MS;

/** ProRes 4444 at 2160p60 has some 265 kB a millisecond, FFV1 and uncompressed sound less. */
const FILE_BYTES_PER_MS = 300_000;
const FILE_FLOOR_BYTES = 2 * GIB;

/**
 * What is left alone of a disk: reports of finished work are kept on it. A run is ended that leaves less than half of
 * this.
 */
export const DISK_RESERVE_BYTES = GIB / 2;

/**
 * The rest is for the system, this process, and sources in the disk cache. A bound by frame size would come to all of most
 * machines' memory, because a command makes several outputs, each of which takes so much address space (MiB, measured on
 * two cores with the presets of the plans):
 *
 *              x264  x265   VP9  SVT-AV1
 * 1920x1080    1240  1190   900     2200
 * 3840x2160    2710  2400  1850     3450
 * 8192x4320    8670  7360  5870     8040
 */
const MEMORY_SHARE = 0.75;
const MEMORY_FLOOR_BYTES = 4 * GIB;
/** Address space, not memory: for each of up to 8 arenas a core glibc reserves 64 MiB, and for each thread's stack 8 MiB. */
const THREADS_BYTES_PER_CPU = 8 * 72 * 2 ** 20;

export type Machine = {
  readonly cpus: number;
  readonly memoryBytes: number;
  /** On the disk that the run writes to; `Infinity` for one that writes nothing. */
  readonly freeBytes: number;
};

/** What the run is about. `durationMs` is that of its longest output; null: nobody knows. */
export type Work = { readonly argv: readonly string[]; readonly durationMs?: number | null | undefined };

/** Limits of a run that makes something. */
export function encodeLimits({ argv, durationMs = null }: Work, { cpus, memoryBytes, freeBytes }: Machine): RunLimits {
  const wallMs = durationMs === null ? UNKNOWN_MS : Math.min(CEILING_MS, FLOOR_MS + WALL_FACTOR * durationMs);
  const room = Math.max(0, freeBytes - DISK_RESERVE_BYTES);
  const largest = durationMs === null ? room : FILE_FLOOR_BYTES + FILE_BYTES_PER_MS * durationMs;
  return {
    wallMs,
    cpuSeconds: Math.ceil((wallMs / 1000) * cpus),
    memoryBytes: usesHardware(argv) ? null : memoryLimit(memoryBytes, cpus),
    fileBytes: Math.min(room, largest),
    fileBreach: largest < room ? "file" : "disk",
  };
}

/** Drivers of GPUs map all memory of the card and more into the address space. */
export const usesHardware = (argv: readonly string[]): boolean =>
  argv.some((argument) => HARDWARE_NAMES.some((name) => argument.endsWith(`_${name}`)));

const memoryLimit = (memoryBytes: number, cpus: number): number =>
  Math.floor(Math.max(MEMORY_FLOOR_BYTES, memoryBytes * MEMORY_SHARE) + cpus * THREADS_BYTES_PER_CPU);

/**
 * Limits of a run of ffprobe, which writes no file. It reads more than it computes: on a busy machine the clock ends it, and
 * what keeps it computing is ended by the processor's limit. Its memory is for a picture of 8192x4320 several times over,
 * and the index of a long film (24 bytes a packet): a header of 1 kB may announce billions of packets.
 */
export const probeLimits = (wallMs: number): RunLimits => ({
  wallMs,
  cpuSeconds: Math.ceil(wallMs / 2000),
  memoryBytes: 4 * GIB,
  fileBytes: 0,
  fileBreach: "file",
});

/** A run with all tracks of a job's outputs has some dozens of files open. */
const OPEN_FILES = 1024;

/** What the kernel lets this process raise its limits to; `Infinity`: anything. */
export type HardLimits = { readonly [resource in Resource]: number };
type Resource = "cpu" | "as" | "fsize" | "nofile";

/**
 * Arguments of util-linux's prlimit. The processor's limit first sends SIGXCPU, which tells it from other kills; SIGKILL
 * comes after ten seconds more. What is above `hard` is cut to that: to ask for more would be refused, and the run with it.
 */
export function limitArguments({ cpuSeconds, memoryBytes, fileBytes }: RunLimits, hard: HardLimits): string[] {
  const upTo = (resource: Resource, wanted: number): number | "unlimited" => {
    const least = Math.min(wanted, hard[resource]);
    return Number.isFinite(least) ? least : "unlimited";
  };
  const at = (resource: Resource, wanted: number): string => `--${resource}=${upTo(resource, wanted)}`;
  return [
    `${at("cpu", cpuSeconds)}:${upTo("cpu", cpuSeconds + 10)}`,
    ...(memoryBytes === null ? [] : [at("as", memoryBytes)]),
    at("fsize", fileBytes),
    at("nofile", OPEN_FILES),
    "--core=0",
  ];
}

const LINES: Readonly<Record<Resource, string>> = {
  cpu: "Max cpu time",
  as: "Max address space",
  fsize: "Max file size",
  nofile: "Max open files",
};

/** Reads Linux's `/proc/self/limits`; what is not told is unlimited. */
export function parseHardLimits(text: string): HardLimits {
  const hardOf = (resource: Resource): number => {
    const [, told] = new RegExp(`^${LINES[resource]} +\\S+ +(\\d+)`, "m").exec(text) ?? [];
    return told === undefined ? Number.POSITIVE_INFINITY : Number(told);
  };
  return { cpu: hardOf("cpu"), as: hardOf("as"), fsize: hardOf("fsize"), nofile: hardOf("nofile") };
}
