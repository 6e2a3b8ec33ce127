// The environment that ffmpeg and ffprobe run in.

/** Secrets, of this node or of whoever started it, are none of a media tool's business. */
const SECRET = /^(?:COPRA|AWS)_|TOKEN|SECRET|PASSWORD|_KEY$/i;

/**
 * The process's environment without what looks like a secret. Static builds load the system's character-set modules into
 * themselves and crash on it when an MPEG-TS names its services (packaged ffprobe and ffmpeg 5.1, rc 139); a
 * GCONV_PATH that leads nowhere stops that, and nothing here needs those modules. SVT-AV1 writes to stderr by itself,
 * whatever ffmpeg's own log level is: errors only.
 */
export function toolEnvironment(): Record<string, string | undefined> {
  const open = Object.entries(process.env).filter(([name]) => !SECRET.test(name));
  return { ...Object.fromEntries(open), GCONV_PATH: "/nonexistent", SVT_LOG: "1" };
}
