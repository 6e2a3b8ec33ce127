// The notifications of a job: the deliveries and the receiver's responses. Each can be sent again.
import { useState } from "preact/hooks";
import type { Delivery, EndpointResult } from "../../../client/index.ts";
import { duration } from "../../core/format.ts";
import { copra } from "../../core/service.ts";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Dialog } from "../../parts/overlays/dialog.tsx";
import { toast, toastError } from "../../parts/overlays/toasts.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { useResource } from "../../parts/use-resource.ts";

const WORDS = {
  due: { status: "waiting", word: "due" },
  delivered: { status: "completed", word: "delivered" },
  abandoned: { status: "failed", word: "abandoned" },
} as const;

/** Reads the notifications again when `changes` changes: it names the events that may cause notifications. */
export function Notifications({ id, changes }: { readonly id: string; readonly changes: string }) {
  const log = useResource((signal) => copra.jobs.notifications(id, { signal }), [id, changes]);
  const [elsewhere, sendElsewhere] = useState<Delivery | null>(null);
  if (log.value === undefined && log.error !== undefined) return <Problem error={log.error} retry={log.reload} />;
  if (log.value === undefined) return <Loading what="the notifications" />;
  if (log.value.length === 0) return <Empty title="No notifications yet">The job sends them when it ends.</Empty>;
  const replay = async (one: Delivery): Promise<void> => {
    try {
      await copra.notifications.replay(id, one.id);
      toast(`${one.event} is sent again`);
      log.reload();
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <>
      <Scroll label="Notifications">
        <table>
          <thead>
            <tr>
              <th>Event</th>
              <th>Status</th>
              <th>Receiver</th>
              <th class="number">Attempts</th>
              <th>Created</th>
              <th>Next attempt</th>
              <th>
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {log.value.map((one) => (
              <tr key={one.id}>
                <td>
                  {one.event}
                  <div class="detail mono">{one.id}</div>
                </td>
                <td>
                  <Status {...WORDS[one.status]} />
                </td>
                <td>
                  {one.last_result ?? "–"}
                  {one.receiver && <div class="detail">{one.receiver.to ?? one.receiver.type}</div>}
                </td>
                <td class="number">{one.attempts}</td>
                <td>
                  <Time at={one.created_at} />
                </td>
                <td>{one.next_attempt_at === null ? "–" : <Time at={one.next_attempt_at} />}</td>
                <td>
                  <div class="row">
                    <button type="button" onClick={() => replay(one)}>
                      Replay
                    </button>
                    <button type="button" onClick={() => sendElsewhere(one)}>
                      Replay to …
                    </button>
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {elsewhere && <ReplayDialog job={id} delivery={elsewhere} close={() => sendElsewhere(null)} />}
    </>
  );
}

/** Sends a notification to another URL, and shows the response. */
function ReplayDialog({ job, delivery, close }: { job: string; delivery: Delivery; close: () => void }) {
  const [url, setUrl] = useState("");
  const [result, setResult] = useState<EndpointResult | null>(null);
  const [problem, setProblem] = useState<unknown>(undefined);
  const [isSending, setSending] = useState(false);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    setSending(true);
    setProblem(undefined);
    setResult(null);
    try {
      const { response } = await copra.notifications.replay(job, delivery.id, { url });
      setResult(response ?? null);
    } catch (error) {
      setProblem(error);
    }
    setSending(false);
  };
  return (
    <Dialog title={`Replay ${delivery.event}`} close={close}>
      <form onSubmit={send}>
        <div class="dialog-body stack">
          <div class="field">
            <label for="replay-url">URL</label>
            <input
              id="replay-url"
              type="url"
              required
              value={url}
              placeholder="https://staging.example.com/hook"
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
            <p class="help">
              It gets the same bytes with the same id, signed, once and now. The schedule does not change.
            </p>
          </div>
          {result && (
            <p role="status">
              <Status
                status={result.delivered ? "completed" : "failed"}
                word={result.status === null ? "no response" : `HTTP ${result.status}`}
              />{" "}
              {result.error ?? `after ${duration(result.seconds)}`}
            </p>
          )}
          {problem !== undefined && <Problem error={problem} />}
        </div>
        <footer>
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="submit" class="primary" disabled={isSending}>
            Send
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
