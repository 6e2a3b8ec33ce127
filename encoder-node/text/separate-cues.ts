// Separates cues that overlap, for formats that show a single text at a time.
import type { Cue, WebVtt } from "./subtitle-cues.ts";
import { textBudget } from "./text-budget.ts";

/**
 * Cues of which never two are shown together: where cues overlap, a cue has the lines of all of them. Throws AppError
 * `subtitle_failed` if the text would become far too long.
 */
export function separateCues({ definitions, cues }: WebVtt): WebVtt {
  const times = [...new Set(cues.flatMap(({ startMs, endMs }) => [startMs, endMs]))].toSorted((a, b) => a - b);
  const separate: Cue[] = [];
  let active: Cue[] = [];
  let next = 0;
  const spend = textBudget("too many of its cues overlap");
  for (const [at, startMs] of times.entries()) {
    active = active.filter(({ endMs }) => endMs > startMs);
    for (let cue = cues[next]; cue && cue.startMs <= startMs; cue = cues[++next]) active.push(cue);
    const [first] = active;
    if (!first) continue;
    const text = active.map((cue) => cue.text).join("\n");
    spend(text);
    separate.push({ ...first, startMs, endMs: times[at + 1] ?? first.endMs, text });
  }
  return { definitions, cues: separate };
}
