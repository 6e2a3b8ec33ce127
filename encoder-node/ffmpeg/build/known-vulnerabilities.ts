// Which versions of ffmpeg are known to be open to published attacks by media files.

/**
 * `fixedIn`: the first fixed patch of a release line, by the project's security page and the advisories. `unsure`: lines that
 * were still maintained, whose fix no advisory names. Older lines are open, newer ones fixed.
 */
type Advisory = {
  readonly id: string;
  readonly fixedIn: Readonly<Record<string, number>>;
  readonly unsure: readonly string[];
  /** Packages of distributions that were built before the fix. Others with their suffix may have it, whatever their number. */
  readonly openPackages: readonly string[];
};

const ADVISORIES: readonly Advisory[] = [
  {
    // MagicYUV decoder, heap write. NVD and JFrog name 7.1.5, 8.0.3 and 8.1.2; Mastodon's notes to 4.6.2 the older lines.
    id: "CVE-2026-8461",
    fixedIn: { "5.1": 10, "6.1": 6, "7.1": 5, "8.0": 3, "8.1": 2 },
    unsure: [],
    openPackages: ["5.1.9-0+deb12u1"],
  },
  {
    // MOV demuxer, encrypted samples. Fixed in 8.1, and in 7.1.4 (Debian 7:7.1.4-0+deb13u1).
    id: "CVE-2026-40962",
    fixedIn: { "7.1": 4, "8.1": 0 },
    unsure: ["5.1", "6.1", "8.0"],
    openPackages: [],
  },
];

/** What the version of a build says about the advisories. */
export type Holes = {
  /** Ids of those that it is open to. */
  readonly open: readonly string[];
  /** Ids of those that it may be open to: a distribution's package, or a build without a release number. */
  readonly unknown: readonly string[];
};

/** The newest releases that no advisory of the table is open in, for advice. */
export const SAFE_RELEASES = "8.1.2 (or 8.0.3, 7.1.5)";

/** `version` as `-version` prints it: `8.1.2`, `n7.0-7-gd38bf5e08e-20240407`, `5.1.9-0+deb12u1`, `N-66595-gc2b38619c0-static`. */
export function knownHoles(version: string): Holes {
  const states = ADVISORIES.map((advisory) => ({ id: advisory.id, state: stateOf(version, advisory) }));
  const of = (wanted: State): string[] => states.filter(({ state }) => state === wanted).map(({ id }) => id);
  return { open: of("open"), unknown: of("unknown") };
}

type State = "open" | "fixed" | "unknown";

function stateOf(version: string, { fixedIn, unsure, openPackages }: Advisory): State {
  const [, major, minor = "0", patch = "0", suffix = ""] =
    /^n?(\d+)(?:\.(\d+))?(?:\.(\d+))?\b(.*)$/.exec(version) ?? [];
  // Builds of the development branch have a count of commits instead, or a date.
  if (major === undefined || Number(major) > 1000) return "unknown";
  if (openPackages.includes(version)) return "open";
  const line = `${Number(major)}.${Number(minor)}`;
  const needed = fixedIn[line];
  if (needed !== undefined && Number(patch) >= needed) return "fixed";
  if (Object.keys(fixedIn).every((known) => isOlder(known, line))) return "fixed";
  return unsure.includes(line) || isPackage(suffix) ? "unknown" : "open";
}

function isOlder(line: string, than: string): boolean {
  const [major = 0, minor = 0] = line.split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = than.split(".").map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

/** Distributions add a revision to the version (`-0+deb12u1`, `-1ubuntu2`, `-3.fc41`); builds of a commit a count and a hash. */
const isPackage = (suffix: string): boolean => /^-\d/.test(suffix) && !/^-\d+-g[0-9a-f]/.test(suffix);
