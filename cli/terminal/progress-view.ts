// Shows the progress of a job: redraws bars on a terminal, and writes lines elsewhere.
import { type Colors, statusColor } from "./colors.ts";
import type { TextStream } from "./output.ts";
import { printableColored } from "./printable.ts";
import { shortened, table } from "./table.ts";
import { durationText } from "./values.ts";

/** Progress of an output or an upload. */
export type Line = {
  readonly name: string;
  /** 0 to 1; null before the start. */
  readonly progress: number | null;
  readonly state: string;
  /** For example `48 fps`. */
  readonly detail?: string;
};

export type Snapshot = {
  /** 0 to 1 for the whole job. */
  readonly progress: number;
  readonly state: string;
  /** The estimated end, in ms since 1970. */
  readonly endsMs?: number | null;
  readonly lines: readonly Line[];
  /** News such as a failed attempt: shown at once. */
  readonly note?: string;
  readonly detail?: string;
};

const BAR_CHARS = 24;
/** Minimum interval between redraws, unless a state changes. */
const REDRAW_MS = 100;
const LINE_MS = 10_000;
const LINE_STEP = 0.1;
const STEP_MS = 2000;

export class ProgressView {
  readonly #out: TextStream;
  readonly #colors: Colors;
  readonly #now: () => number;
  readonly #hidden: boolean;
  #drawnLines = 0;
  #lastAt = -Number.MAX_VALUE;
  #lastStates = "";
  #lastProgress = 0;
  #pending: Snapshot | null = null;

  constructor(options: { out: TextStream; colors: Colors; now: () => number; hidden: boolean }) {
    this.#out = options.out;
    this.#colors = options.colors;
    this.#now = options.now;
    this.#hidden = options.hidden;
  }

  show(snapshot: Snapshot): void {
    if (this.#hidden) return;
    const now = this.#now();
    const states = [
      snapshot.state,
      snapshot.note,
      ...snapshot.lines.map(({ name, state }) => `${name} ${state}`),
    ].join();
    const isNew = states !== this.#lastStates;
    const passed = now - this.#lastAt;
    const gained = snapshot.progress - this.#lastProgress;
    const enough = this.#out.isTTY
      ? passed >= REDRAW_MS
      : (passed >= LINE_MS && gained > 0) || (passed >= STEP_MS && gained >= LINE_STEP);
    this.#pending = snapshot;
    if (!isNew && !enough) return;
    this.#lastAt = now;
    this.#lastStates = states;
    this.#lastProgress = snapshot.progress;
    this.#draw(snapshot);
  }

  /** Leaves the last state on the screen. */
  end(): void {
    if (this.#pending && this.#out.isTTY && !this.#hidden) this.#draw({ ...this.#pending, endsMs: null });
    this.#pending = null;
    this.#drawnLines = 0;
  }

  #draw(snapshot: Snapshot): void {
    this.#pending = null;
    const { endsMs = null } = snapshot;
    const rest = endsMs === null ? "" : `ETA ${durationText(Math.max(0, endsMs - this.#now()) / 1000)}`;
    if (!this.#out.isTTY) {
      const parts = snapshot.lines.map(
        ({ name, state, progress }) => `${name} ${state}${progress ? ` ${percent(progress)}` : ""}`,
      );
      const facts = [
        percent(snapshot.progress),
        snapshot.state,
        ...parts,
        snapshot.note ?? "",
        snapshot.detail ?? "",
        rest,
      ];
      this.#out.write(`${printableColored(facts.filter((fact) => fact !== "").join(" · "))}\n`);
      return;
    }
    const width = (this.#out.columns || 80) - 1;
    const { dim } = this.#colors;
    const rows = snapshot.lines.map(({ name, progress, state, detail = "" }) => [
      shortened(name, 28),
      this.#bar(progress ?? 0),
      percent(progress ?? 0).padStart(4),
      statusColor(state, this.#colors),
      dim(detail),
    ]);
    const total = [
      snapshot.state,
      this.#bar(snapshot.progress),
      percent(snapshot.progress).padStart(4),
      [snapshot.note, snapshot.detail].filter(Boolean).join(" · "),
      rest,
    ];
    const lines = printableColored(table([...rows, total])).split("\n");
    // Shorten lines: a wrapped line could not be redrawn.
    const fitting = lines.map((line) => shortened(line, width));
    const up = this.#drawnLines > 0 ? `\u001b[${this.#drawnLines}A` : "";
    this.#out.write(`${up}${fitting.map((line) => `\r\u001b[2K${line}\n`).join("")}\u001b[J`);
    this.#drawnLines = fitting.length;
  }

  #bar(progress: number): string {
    const full = Math.round(Math.max(0, Math.min(1, progress)) * BAR_CHARS);
    return `${this.#colors.green("█".repeat(full))}${this.#colors.dim("░".repeat(BAR_CHARS - full))}`;
  }
}

const percent = (progress: number): string => `${Math.floor(progress * 100)}%`;
