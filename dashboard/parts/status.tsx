/** Signs and colors by the last word of a status, such as `job.completed` and `video.encoding`. */
const KINDS: Readonly<Record<string, readonly [sign: string, kind: string]>> = {
  completed: ["✓", "ok"],
  created: ["✓", "ok"],
  encoded: ["✓", "ok"],
  packaged: ["✓", "ok"],
  transferred: ["✓", "ok"],
  failed: ["✕", "bad"],
  aborted: ["⊘", "idle"],
  skipped: ["⊘", "idle"],
  waiting: ["…", "idle"],
  queued: ["…", "idle"],
  lost: ["✕", "warn"],
  ready: ["✓", "ok"],
  not_ready: ["!", "bad"],
  quarantined: ["!", "bad"],
  offline: ["○", "idle"],
  gone: ["○", "bad"],
  draining: ["⇣", "warn"],
  cordoned: ["‖", "warn"],
};

const WORDS: Readonly<Record<string, string>> = { "job.aborted": "canceled", not_ready: "not ready" };

/** A status such as `job.completed` as a chip: sign, color and word. `word` replaces the status's last word. */
export function Status({ status, word }: { readonly status: string; readonly word?: string }) {
  const last = status.replace(/^.*\./, "");
  const [sign, kind] = KINDS[last] ?? ["▶", "busy"];
  return (
    <span class={`status ${kind}`}>
      <span aria-hidden="true">{sign}</span> {word ?? WORDS[status] ?? last}
    </span>
  );
}
