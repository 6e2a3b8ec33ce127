// The times that ffmpeg gives to packets whose clock restarts or jumps. Pure.

/** Times in seconds; null if the packet has none. */
export type TimedPacket = {
  readonly stream: number;
  readonly pts: number | null;
  readonly dts: number | null;
  /** 0 if unknown. */
  readonly duration: number;
};

/** ffmpeg's `-dts_delta_threshold` and `-dts_error_threshold`, which no command sets. In seconds. */
const DELTA_THRESHOLD = 10;
const ERROR_THRESHOLD = 3600 * 30;
/** A packet that is earlier than its predecessor by more than this starts another clock. */
const BACKWARD_SECONDS = 0.1;

/** `next`: the expected decoding time of the next packet. */
type StreamClock = { readonly dts: number; readonly next: number };

/**
 * Follows the clock of a run of ffmpeg 7.0 (`ts_discontinuity_detect`, `ts_discontinuity_process` and `ist_dts_update`
 * in fftools/ffmpeg_demux.c) that reads only the packets given here. In formats whose clock may restart, a packet moves
 * to its expected time if it is earlier than its predecessor, or more than 10 s off. All later packets move by the same
 * amount. In other formats, times that are 30 h away are ignored.
 */
export class PacketClock {
  readonly #mayRestart: boolean;
  readonly #streams = new Map<number, StreamClock>();
  #offset = 0;
  #last: number | null = null;
  #hasRestarted = false;

  constructor(mayRestart: boolean) {
    this.#mayRestart = mayRestart;
  }

  /** True if the clock has restarted or jumped. */
  get hasRestarted(): boolean {
    return this.#hasRestarted;
  }

  /** Returns the time at which ffmpeg presents the packet; null if the packet has no usable time. */
  presented({ stream, pts, dts, duration }: TimedPacket): number | null {
    const known = this.#streams.get(stream);
    if (this.#mayRestart && dts !== null) this.#follow(dts + this.#offset, known);
    const moved = (time: number | null): number | null => (time === null ? null : time + this.#offset);
    const isUsable = (time: number | null): boolean =>
      time !== null && (this.#mayRestart || !known || Math.abs(time - known.next) <= ERROR_THRESHOLD);
    const [decoded, presented] = [moved(dts), moved(pts)].map((time) => (isUsable(time) ? time : null));
    if (decoded != null) this.#last = decoded;
    const at = decoded ?? known?.next ?? presented ?? null;
    if (at !== null) this.#streams.set(stream, { dts: at, next: at + duration });
    return presented ?? at;
  }

  /** Moves a packet that starts another clock to its expected time. */
  #follow(dts: number, known: StreamClock | undefined): void {
    const delta = dts - (known?.next ?? this.#last ?? dts);
    const isEarlier = known !== undefined && dts + BACKWARD_SECONDS < known.dts;
    if (Math.abs(delta) <= DELTA_THRESHOLD && !isEarlier) return;
    this.#offset -= delta;
    this.#hasRestarted = true;
  }
}
