// The environment that ffmpeg and ffprobe run in.
import { resolve } from "node:path";

/** The variables of this process's environment that a tool gets. */
const ALLOWED: readonly string[] = [
  ...["PATH", "LANG", "LC_ALL"],
  // Libraries of drivers in containers, and of ffmpeg builds outside the system folders.
  ...["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"],
  // NVIDIA: the cards that this process may use.
  ...["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"],
  // VAAPI and QSV: the name and location of the driver.
  ...["LIBVA_DRIVER_NAME", "LIBVA_DRIVERS_PATH", "ONEVPL_SEARCH_PATH"],
  // Windows programs do not start without these.
  ...["SystemRoot", "Path"],
];

/**
 * A run's environment: the variables above, and no home folder. `folder` is the only place to write to; null: none.
 *
 * - GCONV_PATH: static builds load the system's character-set modules and crash when an MPEG-TS names its services (the
 *   packaged ffprobe and ffmpeg 5.1, exit code 139). A missing path prevents that; no run needs the modules.
 * - SVT_LOG: SVT-AV1 writes to stderr whatever ffmpeg's log level is. 1 means errors only.
 * - FONTCONFIG_FILE: libass finds no fonts of the machine, only those that the node puts into the folder of the run.
 * - CUDA_CACHE_DISABLE: CUDA would store compiled kernels in the home folder.
 */
export function toolEnvironment(folder: string | null = null): Record<string, string | undefined> {
  const allowed = ALLOWED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const nowhere = "/nonexistent";
  return {
    ...Object.fromEntries(allowed),
    HOME: nowhere,
    TMPDIR: folder ?? nowhere,
    GCONV_PATH: nowhere,
    SVT_LOG: "1",
    FONTCONFIG_FILE: folder === null ? nowhere : resolve(folder, "fonts.conf"),
    CUDA_CACHE_DISABLE: "1",
  };
}
