// Limits on the time, memory and disk space of a run of ffmpeg or ffprobe, above the needs of any honest work. Pure.

export type RunLimits = {
  /** Elapsed time. */
  readonly wallMs: number;
  /** CPU time of all threads together. The kernel enforces it, even when this process hangs. */
  readonly cpuSeconds: number;
  /** Size of the address space: the kernel limits this, not the memory in use. Null: no limit. */
  readonly memoryBytes: number | null;
  /** Size of each written file. */
  readonly fileBytes: number;
  /**
   * Processes and threads of the run. Null: no limit, because the kernel would also count other programs' processes.
   */
  readonly processes: number | null;
  /** Number of files in the run's folder. */
  readonly files: number;
  /** The limit that a file of `fileBytes` exceeds: the size of any such output, or the free space on the disk. */
  readonly exceededByFile: "file" | "disk";
};

/** The limit that a run exceeded. `time`: elapsed or CPU time. `disk`: the node has hardly any space or files left. */
export type ExceededLimit = "frames" | "time" | "file" | "files" | "disk";

const HOUR_MS = 3_600_000;
const GIB = 2 ** 30;

/** A chunk of a second may need an hour: two-pass AV1 at 8192x4320 takes about ten seconds per frame on two cores. */
const FLOOR_MS = HOUR_MS;
/**
 * Milliseconds per millisecond of the longest output. A full ladder up to 2160p in VP9 takes about 150 on two cores.
 */
const WALL_FACTOR = 200;
/** The limit for outputs of unknown duration, and the maximum for any run. */
const CEILING_MS = 7 * 24 * HOUR_MS;
const UNKNOWN_MS = 48 * HOUR_MS;

/** ProRes 4444 at 2160p60 has about 265 kB per millisecond; FFV1 and uncompressed audio have less. */
const FILE_BYTES_PER_MS = 300_000;
const FILE_FLOOR_BYTES = 2 * GIB;

/** Reserved disk space: the node stores reports of finished tasks there. A run that leaves less than half is ended. */
export const DISK_RESERVE_BYTES = GIB / 2;

/**
 * The share of memory that a run may use. The system, this process and the disk cache of sources use the remainder. A
 * limit by frame size would equal the whole memory of most machines: a command makes several outputs, and each takes
 * this much address space (MiB, measured on two cores with the presets of the plans):
 *
 *              x264  x265   VP9  SVT-AV1
 * 1920x1080    1240  1190   900     2200
 * 3840x2160    2710  2400  1850     3450
 * 8192x4320    8670  7360  5870     8040
 */
const MEMORY_SHARE = 0.75;
const MEMORY_FLOOR_BYTES = 4 * GIB;
/** Address space, not memory: glibc reserves 64 MiB for each of up to 8 arenas per core, and 8 MiB per thread stack. */
const THREADS_BYTES_PER_CPU = 8 * 72 * 2 ** 20;

/**
 * Threads of all encoders, decoders and filters of a run. For each of thirty outputs, x264 has 1.5 threads per core,
 * and the filters have 1.
 */
const processLimit = (cpus: number): number => 1024 + 256 * cpus;
/** More threads than a decoder starts. */
const PROBE_PROCESSES = 1024;
/**
 * About twice the images of a day at an image per second. Stream segments leave the folder as soon as they are
 * complete.
 */
const MAX_FILES = 200_000;

export type Machine = {
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Free space on the disk that the run writes to; `Infinity` for a run that writes nothing. */
  readonly freeBytes: number;
};

export type Work = {
  /** True if the run encodes in hardware. False by default. */
  readonly inHardware?: boolean | undefined;
  /** The duration of the longest output; null: unknown. */
  readonly durationMs?: number | null | undefined;
};

/**
 * Limits of a run of ffmpeg. A hardware encode has no memory limit, because GPU drivers map more than the card's whole
 * memory into the address space.
 */
export function encodeLimits(
  { inHardware = false, durationMs = null }: Work,
  { cpus, memoryBytes, freeBytes }: Machine,
): RunLimits {
  const wallMs = durationMs === null ? UNKNOWN_MS : Math.min(CEILING_MS, FLOOR_MS + WALL_FACTOR * durationMs);
  const room = Math.max(0, freeBytes - DISK_RESERVE_BYTES);
  const largest = durationMs === null ? room : FILE_FLOOR_BYTES + FILE_BYTES_PER_MS * durationMs;
  return {
    wallMs,
    cpuSeconds: Math.ceil((wallMs / 1000) * cpus),
    memoryBytes: inHardware ? null : memoryLimit(memoryBytes, cpus),
    fileBytes: Math.min(room, largest),
    processes: processLimit(cpus),
    files: MAX_FILES,
    exceededByFile: largest < room ? "file" : "disk",
  };
}

const memoryLimit = (memoryBytes: number, cpus: number): number =>
  Math.floor(Math.max(MEMORY_FLOOR_BYTES, memoryBytes * MEMORY_SHARE) + cpus * THREADS_BYTES_PER_CPU);

/**
 * Limits of a run of ffprobe, which writes no file. ffprobe reads more than it computes. The limit on elapsed time ends
 * it on a busy machine, and the CPU limit ends it on a file that keeps it computing. The memory suffices for several
 * frames of 8192x4320 and the index of a long video (24 bytes per packet). A header of 1 kB can declare billions of
 * packets.
 */
export const probeLimits = (wallMs: number): RunLimits => ({
  wallMs,
  cpuSeconds: Math.ceil(wallMs / 2000),
  memoryBytes: 4 * GIB,
  fileBytes: 0,
  processes: PROBE_PROCESSES,
  files: 0,
  exceededByFile: "file",
});

/** A run with all tracks of a job's outputs has a few dozen files open. */
const OPEN_FILES = 1024;

/** The hard limits of this process, which it cannot raise; `Infinity`: unlimited. */
export type HardLimits = { readonly [resource in Resource]: number };
type Resource = "cpu" | "as" | "fsize" | "nofile" | "nproc";

/** Numbers of Linux (RLIMIT_* in getrlimit(2)); RLIMIT_CORE is without a resource of `HardLimits`. */
const NUMBERS: Readonly<Record<Resource, number>> = { cpu: 0, fsize: 1, nproc: 6, nofile: 7, as: 9 };
const CORE_DUMPS = [4, 0, 0] as const;

export type ResourceLimit = readonly [resource: number, soft: number, hard: number];

/**
 * The limits for setrlimit(2). The CPU limit first sends SIGXCPU, which distinguishes it from other kills; SIGKILL
 * follows after ten seconds. Values are capped at the hard limits, which a run cannot raise.
 */
export function resourceLimits(
  { cpuSeconds, memoryBytes, fileBytes, processes }: RunLimits,
  hard: HardLimits,
): ResourceLimit[] {
  const upTo = (resource: Resource, soft: number, most = soft): ResourceLimit => [
    NUMBERS[resource],
    Math.min(soft, hard[resource]),
    Math.min(most, hard[resource]),
  ];
  const limits = [
    upTo("cpu", cpuSeconds, cpuSeconds + 10),
    ...(memoryBytes === null ? [] : [upTo("as", memoryBytes)]),
    upTo("fsize", fileBytes),
    upTo("nofile", OPEN_FILES),
    ...(processes === null ? [] : [upTo("nproc", processes)]),
    CORE_DUMPS,
  ];
  return limits.filter(([, soft]) => Number.isFinite(soft));
}

const LINES: Readonly<Record<Resource, string>> = {
  cpu: "Max cpu time",
  as: "Max address space",
  fsize: "Max file size",
  nofile: "Max open files",
  nproc: "Max processes",
};

/** Parses Linux's `/proc/self/limits`. A limit that is not listed is unlimited. */
export function parseHardLimits(text: string): HardLimits {
  const hardOf = (resource: Resource): number => {
    const [, hard] = new RegExp(`^${LINES[resource]} +\\S+ +(\\d+)`, "m").exec(text) ?? [];
    return hard === undefined ? Number.POSITIVE_INFINITY : Number(hard);
  };
  return {
    cpu: hardOf("cpu"),
    as: hardOf("as"),
    fsize: hardOf("fsize"),
    nofile: hardOf("nofile"),
    nproc: hardOf("nproc"),
  };
}
