// A job and its tasks, kept current while a page shows them.
import { effect, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { CopraError, type Job, type TaskChanges, type TaskList } from "../../../client/index.ts";
import { hidden, paused } from "../../core/account-events.ts";
import { copra, serviceNow } from "../../core/service.ts";
import { type LogEntry, withChanges } from "./observed-log.ts";
import { applyChanges, EMPTY_BOOK, replaceTasks, type TaskBook } from "./task-book.ts";

/** `off`: paused by the person, or the tab is hidden. `polling`: the job has too many followers. */
export type FollowState = "connecting" | "live" | "polling" | "lost" | "off" | "ended";

/** The tasks of a job; `gone`: the service no longer keeps them. */
export type Tasks = TaskBook | "gone" | undefined;

export type LiveJob = ReturnType<typeof liveJob>;

/** A job and its signals. It is followed between `start` and the call of the function that `start` returns. */
export function liveJob(id: string) {
  const job = signal<Job | undefined>(undefined);
  const tasks = signal<Tasks>(undefined);
  const state = signal<FollowState>("connecting");
  const error = signal<unknown>(undefined);
  const log = signal<readonly LogEntry[]>([]);
  const round = signal(0);

  function takeJob(next: Job): void {
    log.value = withChanges(log.peek(), job.peek(), next, serviceNow());
    job.value = next;
  }

  function takeChanges(changes: TaskChanges): void {
    const before = tasks.peek();
    const book = before === undefined || before === "gone" ? EMPTY_BOOK : before;
    tasks.value = applyChanges(book, changes, serviceNow());
  }

  async function readTasks(abort: AbortSignal): Promise<void> {
    const list: TaskList | null = await copra.jobs.tasks(id, { signal: abort }).catch((reason: unknown) => {
      if (reason instanceof CopraError && reason.status === 409) return null;
      throw reason;
    });
    const before = tasks.peek();
    const book = before === undefined || before === "gone" ? EMPTY_BOOK : before;
    tasks.value = list === null ? "gone" : replaceTasks(book, list, serviceNow());
  }

  async function follow(abort: AbortSignal): Promise<void> {
    let isPolling = false;
    const onPoll = (): void => {
      isPolling = true;
      readTasks(abort).catch(() => undefined);
    };
    const onReconnect = (): void => {
      state.value = "lost";
    };
    for await (const event of copra.jobs.events(id, { signal: abort, onPoll, onReconnect })) {
      if (event.event === "tasks") takeChanges(event.data);
      else takeJob(event.data);
      error.value = undefined;
      state.value = isPolling ? "polling" : "live";
      isPolling = false;
    }
    // The last changes may come after the last event.
    await readTasks(abort);
    state.value = "ended";
  }

  function run(): () => void {
    const abort = new AbortController();
    state.value = "connecting";
    follow(abort.signal).catch((reason: unknown) => {
      if (abort.signal.aborted) return;
      error.value = reason;
      state.value = "lost";
    });
    return () => abort.abort();
  }

  return {
    job,
    tasks,
    state,
    error,
    /** The observed changes, the oldest first. */
    log,
    /** Takes the response of a call that changed the job. Follows the job again if it had ended. */
    changed(next: Job): void {
      takeJob(next);
      round.value += 1;
    },
    /** Reads all data again. */
    restart: (): void => {
      round.value += 1;
    },
    /** Follows the job until the returned function is called. */
    start: () =>
      effect(() => {
        round.value;
        if (!paused.value && !hidden.value) return run();
        // An ended job does not change while nobody looks.
        if (state.peek() !== "ended") state.value = "off";
        return undefined;
      }),
  };
}

/** The job of a page. */
export function useLiveJob(id: string): LiveJob {
  const live = useMemo(() => liveJob(id), [id]);
  useEffect(() => live.start(), [live]);
  return live;
}
