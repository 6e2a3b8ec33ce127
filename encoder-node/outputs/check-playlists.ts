// Reads the stored playlists of a stream at their public URLs, as a player on another website does.
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { PublicPlaylist } from "#shared/protocol/tasks.ts";
import { requestSource } from "../source/fetch/source-request.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";

/** An output does not wait longer for its playlists. */
const LIMIT_MS = 5000;
/** The longest note of a report. */
const MAX_NOTE_CHARS = 500;

const NAMES = { hls: "HLS playlist", dash: "DASH manifest" } as const;
const TYPES = {
  hls: ["application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl"],
  dash: ["application/dash+xml", "video/vnd.mpeg.dash.mpd"],
} as const;

type PlaylistDeps = Pick<TaskDeps, "assignment" | "storages" | "allowPrivate" | "signal" | "log">;

/** The report with a note of what keeps players from the stream's playlists. Never fails the output. */
export async function withPlaylistNote(report: OutputReport, deps: PlaylistDeps): Promise<OutputReport> {
  if (report.status !== "made") return report;
  const playlists = deps.assignment.playlists?.filter(({ output }) => output === report.output) ?? [];
  const problems = await Promise.all(playlists.map((playlist) => problemOf(playlist, deps)));
  const note = [report.note ?? "", ...new Set(problems)].filter((text) => text !== "").join(" ");
  return note === "" || note.length > MAX_NOTE_CHARS ? report : { ...report, note };
}

/** A sentence for the client; empty if the playlist can be read, or if its host does not respond. */
async function problemOf({ url, format }: PublicPlaylist, deps: PlaylistDeps): Promise<string> {
  const { storages: agent, allowPrivate: allow, log } = deps;
  const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(LIMIT_MS)]);
  const name = NAMES[format];
  try {
    const request = { url, headers: { origin: "null" }, agent, allow, stallMs: LIMIT_MS, signal };
    const { statusCode, headers, body } = await requestSource(request);
    body.on("error", () => undefined).destroy();
    if (statusCode !== 200) return `Players cannot read its ${name}: the public URL responds with ${statusCode}.`;
    const allowed = headers["access-control-allow-origin"];
    if (allowed !== "*" && allowed !== "null")
      return `Players on websites cannot read its ${name}: the storage lacks CORS for all origins.`;
    const type = String(headers["content-type"] ?? "")
      .split(";")[0]
      ?.trim()
      .toLowerCase();
    return TYPES[format].some((expected) => expected === type)
      ? ""
      : `Some players refuse its ${name}: the storage sends it without the content type ${TYPES[format][0]}.`;
  } catch (error) {
    log.debug("playlist not checked", { url, error: String(error) });
    return "";
  }
}
