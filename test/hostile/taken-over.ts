// Programs in place of ffmpeg that act like an ffmpeg compromised by its source. They leave links, pipes and worse
// under each name that the node may open next, and exit as if all were well.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The paths that such a program knows. */
export type Target = {
  /** Folder for the programs. */
  readonly folder: string;
  /** The real ffmpeg. */
  readonly ffmpeg: string;
  /** A file outside its folder that the program tries to read, write or expose. */
  readonly prey: string;
  /** False without a sandbox, where the program itself can write to the prey. */
  readonly hasSandbox: boolean;
};

/** Names of other files in the task's folder that the node might write or read. */
const GUESSES = [
  ...["0.vtt", "1.vtt", "watermark-1", "0-subtitles-2.bin", "0-subtitles-2.srt", "0-subtitles-2.vtt"],
  ...["chunk-1.mp4", "0-video.mp4", "0-audio.mp4", "0-36p.mp4"],
];

/** Each act is a shell script with `$names` in the folder of the run, `$prey`, and `real` for the real ffmpeg. */
const ACTS = {
  "leaves links": `
    for n in $names; do rm -rf "$n"; ln -sfn "$prey" "$n"; done
    ln -sfn "$(dirname "$prey")" folder; ln -sfn / root; sleep 1`,
  "leaves links beside what it made": `
    real; for n in $guesses; do [ -e "$n" ] || ln -s "$prey" "$n"; done`,
  "leaves pipes": `
    for n in $names; do case $n in *.m3u8) ;; *) rm -rf "$n"; mkfifo "$n";; esac; done; sleep 1.5`,
  "leaves pipes as playlists": 'for n in $names; do rm -rf "$n"; mkfifo "$n"; done; sleep 1.5',
  "leaves files with two names": `
    for n in $names; do rm -rf "$n"; echo text > "$n"; ln "$n" "$n.2"; ln "$prey" "$n.3"; done; sleep 1`,
  "leaves folders, deep and closed": `
    for n in $names; do rm -rf "$n"; mkdir -p "$n/a/b"; : > "$n/a/b/c"; chmod 000 "$n/a" "$n"; done
    perl -e 'my $d = "deep" x 50; for (1..40) { mkdir $d; chdir $d }'
    perl -e 'mkdir "odd\\xff\\xfe"; open F, ">", "odd\\xff\\xfe/\\xff"; open F, ">", "\\xff.mp4"'
    chmod 000 .`,
  "leaves thousands of files, and huge ones": `
    for n in $names; do truncate -s 1900M "$n"; done
    perl -e 'for (1..5000) { open F, ">", "many-$_" }'`,
  "replaces what it made, and stays": `
    real; for n in *; do case $n in *.m3u8) ;; *) mv "$n" ".$n"; ln -s "$prey" "$n";; esac; done
    perl -e 'exit if fork; use POSIX; POSIX::setsid(); close $_ for *STDIN, *STDOUT, *STDERR;
      my $end = time + 4; while (time < $end) { for (qw(a b c)) { mkdir $_; rename $_, "$_.x"; symlink $ARGV[0], $_; rmdir "$_.x"; unlink $_ } }' \\
      "$(dirname "$prey")"`,
} as const;

export type Act = keyof typeof ACTS;
export const ALL_ACTS = Object.keys(ACTS) as Act[];

/** Makes the node open `segment.ts` as a segment. */
const PLAYLISTS = String.raw`for n in $names; do case $n in *.m3u8)
  printf '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nsegment.ts\n#EXT-X-ENDLIST\n' > "$n";; esac; done`;

/**
 * Writes the program and returns its path. It acts in runs whose arguments contain `when`; ffmpeg does the other runs.
 */
export async function takenOver(act: Act, when: string, { folder, ffmpeg, prey, hasSandbox }: Target): Promise<string> {
  const path = join(folder, `taken-over-${act.replaceAll(/\W/g, "-")}-${when.replaceAll(/\W/g, "") || "always"}`);
  const isReal = ACTS[act].includes("real;");
  const script = `#!/bin/sh
prey='${prey}'
real() { "${ffmpeg}" "$@"; }
case "$*" in *'${when}'*) ;; *) exec "${ffmpeg}" "$@";; esac
case $PWD in */tasks/*) ;;
# A run without a folder of its own.
/) ${hasSandbox ? 'echo own > "$prey"; chmod 644 "$prey"; ln -s "$prey" /input; cat "$prey"; ' : ""}exit 0;;
*) exit 0;; esac
args="$*"
names=$(printf '%s\\n' "$args" | tr ' :=;|[],' '\\n' | sed 's|.*/||; s|%05d|00000|' | grep -E '^[A-Za-z0-9_-]+[.][a-z0-9]+$' | sort -u)
guesses='${GUESSES.join(" ")}'
names="$names $guesses segment.ts"
${isReal ? "" : PLAYLISTS}
${ACTS[act].replace("real;", 'real "$@";')}
exit 0
`;
  await writeFile(path, script, { mode: 0o755 });
  return path;
}
