const SIGNS: Readonly<Record<string, string>> = {
  completed: "✓",
  failed: "✕",
  cancelled: "⊘",
  aborted: "⊘",
  processing: "▶",
  waiting: "…",
};

/** A status such as `job.completed` as a chip: sign, color and word. */
export function Status({ status }: { readonly status: string }) {
  const word = status.replace(/^(job|output)\./, "");
  return (
    <span class={`status ${word}`}>
      <span aria-hidden="true">{SIGNS[word] ?? "▶"}</span> {word}
    </span>
  );
}
