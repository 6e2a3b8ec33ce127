// The environment that ffmpeg and ffprobe run in.

/** All that is handed on of this process's environment. */
const ALLOWED: readonly string[] = [
  ...["PATH", "LANG", "LC_ALL"],
  // Libraries of drivers in containers, and of ffmpeg builds outside the system's folders.
  ...["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"],
  // NVIDIA: which cards there are to this process.
  ...["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"],
  // VAAPI and QSV: which driver, and where it is.
  ...["LIBVA_DRIVER_NAME", "LIBVA_DRIVERS_PATH", "ONEVPL_SEARCH_PATH"],
  // Windows programs do not start without.
  ...["SystemRoot", "Path"],
];

/**
 * A run's environment: what is named above, and no home. `folder` is where it may write; null: nowhere. Static builds load the
 * system's character-set modules into themselves and crash on it when an MPEG-TS names its services (packaged
 * ffprobe and ffmpeg 5.1, rc 139); a GCONV_PATH that leads nowhere stops that, and nothing here needs those modules.
 * SVT-AV1 writes to stderr by itself, whatever ffmpeg's own log level is: errors only. CUDA would keep compiled kernels in the home.
 */
export function toolEnvironment(folder: string | null = null): Record<string, string | undefined> {
  const allowed = ALLOWED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const nowhere = "/nonexistent";
  return {
    ...Object.fromEntries(allowed),
    ...{ HOME: nowhere, TMPDIR: folder ?? nowhere, GCONV_PATH: nowhere, SVT_LOG: "1", CUDA_CACHE_DISABLE: "1" },
  };
}
