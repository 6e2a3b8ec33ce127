// The turns of a hub with its jobs. Each job has at most one running turn. Parts that arrive during a turn are sent
// with the next turn: a job with many nodes gets few calls, and no part waits for a timer.
import { EMPTY_TURN, type Turn, type TurnAnswer } from "../../rpc/turn.ts";

type Part = Partial<Turn>;
/** The answer to a part; null: the job was not reachable. */
export type PartAnswer = TurnAnswer | null;
type Next = { readonly parts: Part[]; readonly answer: Promise<PartAnswer> };

export class JobTurns {
  readonly #call: (jobId: string, turn: Turn) => Promise<PartAnswer>;
  readonly #next = new Map<string, Next>();
  readonly #running = new Map<string, Promise<PartAnswer>>();

  /** `call` must not throw. */
  constructor(call: (jobId: string, turn: Turn) => Promise<PartAnswer>) {
    this.#call = call;
  }

  /** Sends a part with the next turn. The answer's `assigned` and `acks` belong to this part alone. */
  async exchange(jobId: string, part: Part): Promise<PartAnswer> {
    const known = this.#next.get(jobId);
    const parts = known?.parts ?? [];
    const [wanted, reported] = [parts.flatMap(({ want = [] }) => want), parts.flatMap(({ done = [] }) => done)];
    parts.push(part);
    const answer = known?.answer ?? this.#exchange(jobId, parts);
    if (!known) this.#next.set(jobId, { parts, answer });
    const whole = await answer;
    return (
      whole && {
        ...whole,
        assigned: whole.assigned.slice(wanted.length, wanted.length + (part.want?.length ?? 0)),
        acks: whole.acks.slice(reported.length, reported.length + (part.done?.length ?? 0)),
      }
    );
  }

  async #exchange(jobId: string, parts: readonly Part[]): Promise<PartAnswer> {
    // Without a running turn, this still waits for the end of the current step: a frame may have several parts.
    await this.#running.get(jobId);
    this.#next.delete(jobId);
    const running = this.#call(jobId, merged(parts));
    this.#running.set(jobId, running);
    const answer = await running;
    if (this.#running.get(jobId) === running) this.#running.delete(jobId);
    return answer;
  }
}

const merged = (parts: readonly Part[]): Turn =>
  parts.reduce<Turn>(
    (all, { done = [], alive = [], progress = [], lost = [], want = [] }) => ({
      done: [...(all.done ?? []), ...done],
      alive: [...all.alive, ...alive],
      progress: [...all.progress, ...progress],
      lost: [...all.lost, ...lost],
      want: [...all.want, ...want],
    }),
    EMPTY_TURN,
  );
