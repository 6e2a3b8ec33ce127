// Limits a planned run to some of a machine's cores.

/** x264's own choice: frames that wait for rows of the one before leave threads idle. */
const X264_THREADS_PER_CORE = 1.5;
/** ffmpeg's own limit for decoders, and libvpx's wrapper's. */
const MOST_THREADS = 16;

/**
 * The arguments of a run that uses about so many cores. Without them ffmpeg and its encoders use all cores, each in
 * every run: several runs then cost up to twice the CPU time (bench/strong-machine.ts).
 */
export function withThreads(argv: readonly string[], cores: number): string[] {
  const some = String(Math.max(1, Math.min(MOST_THREADS, cores)));
  return argv.flatMap((argument, at) => {
    const before = argv[at - 1];
    if (argument === "-i") return ["-threads", some, argument];
    if (argument === "-filter_complex") return ["-filter_complex_threads", some, argument];
    if (argument === "-c:v") return ["-threads:v", encoderThreads(argv[at + 1], cores), argument];
    return before === "-x265-params" ? [`${argument}:pools=${Math.max(1, cores)}`] : [argument];
  });
}

const encoderThreads = (encoder: string | undefined, cores: number): string =>
  String(
    encoder === "libx264"
      ? Math.max(1, Math.ceil(X264_THREADS_PER_CORE * cores))
      : Math.max(1, Math.min(MOST_THREADS, cores)),
  );
