// The versions of ffmpeg with published vulnerabilities that media files can exploit.

/**
 * `fixedIn`: the first fixed patch version of each release line, from the project's security page and the advisories.
 * `unsure`: maintained release lines without a fix in any advisory. Older lines are affected, newer lines are fixed.
 */
type Advisory = {
  readonly id: string;
  readonly fixedIn: Readonly<Record<string, number>>;
  readonly unsure: readonly string[];
  /** Distribution packages that were built before the fix. Other packages may contain it, whatever their version is. */
  readonly affectedPackages: readonly string[];
};

const ADVISORIES: readonly Advisory[] = [
  {
    // MagicYUV decoder, heap write. NVD and JFrog name 7.1.5, 8.0.3 and 8.1.2; Mastodon's notes to 4.6.2 name the older
    // lines.
    id: "CVE-2026-8461",
    fixedIn: { "5.1": 10, "6.1": 6, "7.1": 5, "8.0": 3, "8.1": 2 },
    unsure: [],
    affectedPackages: ["5.1.9-0+deb12u1"],
  },
  {
    // MOV demuxer, encrypted samples. Fixed in 8.1, and in 7.1.4 (Debian 7:7.1.4-0+deb13u1).
    id: "CVE-2026-40962",
    fixedIn: { "7.1": 4, "8.1": 0 },
    unsure: ["5.1", "6.1", "8.0"],
    affectedPackages: [],
  },
];

export type Vulnerabilities = {
  /** Ids of the advisories that affect the build. */
  readonly affected: readonly string[];
  /** Ids of advisories that may affect the build, because it is a distribution's package or has no release number. */
  readonly unknown: readonly string[];
};

/** The newest releases without a known vulnerability, for advice. */
export const SAFE_RELEASES = "8.1.2 (or 8.0.3, 7.1.5)";

/**
 * `version` as `-version` prints it: `8.1.2`, `n7.0-7-gd38bf5e08e-20240407`, `5.1.9-0+deb12u1`,
 * `N-66595-gc2b38619c0-static`.
 */
export function knownVulnerabilities(version: string): Vulnerabilities {
  const states = ADVISORIES.map((advisory) => ({ id: advisory.id, state: stateOf(version, advisory) }));
  const of = (wanted: State): string[] => states.filter(({ state }) => state === wanted).map(({ id }) => id);
  return { affected: of("affected"), unknown: of("unknown") };
}

type State = "affected" | "fixed" | "unknown";

function stateOf(version: string, { fixedIn, unsure, affectedPackages }: Advisory): State {
  const [, major, minor = "0", patch = "0", suffix = ""] =
    /^n?(\d+)(?:\.(\d+))?(?:\.(\d+))?\b(.*)$/.exec(version) ?? [];
  // Builds of the development branch have a commit count or a date instead.
  if (major === undefined || Number(major) > 1000) return "unknown";
  if (affectedPackages.includes(version)) return "affected";
  const line = `${Number(major)}.${Number(minor)}`;
  const needed = fixedIn[line];
  if (needed !== undefined && Number(patch) >= needed) return "fixed";
  if (Object.keys(fixedIn).every((known) => isOlder(known, line))) return "fixed";
  return unsure.includes(line) || isPackage(suffix) ? "unknown" : "affected";
}

function isOlder(line: string, than: string): boolean {
  const [major = 0, minor = 0] = line.split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = than.split(".").map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

/**
 * Distributions append a revision (`-0+deb12u1`, `-1ubuntu2`, `-3.fc41`); builds of a commit append a count and a hash.
 */
const isPackage = (suffix: string): boolean => /^-\d/.test(suffix) && !/^-\d+-g[0-9a-f]/.test(suffix);
