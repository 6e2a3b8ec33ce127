// The details of a node: its tasks, and the capabilities of its ffmpeg.
import { parseLeaseId } from "#shared/ids.ts";
import type { NodeDetails } from "../../client/index.ts";
import { bytes } from "../core/format.ts";
import { admin } from "../core/service.ts";
import { Icon } from "../parts/icon.tsx";
import { Link } from "../parts/link.tsx";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/problem.tsx";
import { Time } from "../parts/time.tsx";
import { usePolled } from "../parts/use-polled.ts";
import { type Note, securityNotes } from "./fleet.ts";
import { History } from "./node-history.tsx";

const POLL_MS = 5000;

/** `notes`: the notes that the list already has. */
export function NodeDetail({ id, notes }: { readonly id: string; readonly notes: readonly Note[] }) {
  const { value: node, error, reload } = usePolled((signal) => admin.nodes.get(id, { signal }), [id], POLL_MS);
  if (!node) return error === undefined ? <Loading what="the node" /> : <Problem error={error} retry={reload} />;
  return (
    <div class="node-detail">
      <section aria-label="Tasks">
        <h2>{node.state === "gone" ? "Tasks that it had" : "Tasks now"}</h2>
        <Tasks tasks={node.state === "gone" ? node.lost_leases.map((lease) => ({ lease })) : node.running} />
        <Notes notes={[...notes, ...securityNotes(node)]} />
      </section>
      <History id={id} />
      <section aria-label="Machine">
        <h2>Machine</h2>
        <Facts node={node} />
      </section>
      <section aria-label="Capabilities">
        <h2>Supported by its ffmpeg</h2>
        <Capabilities node={node} />
      </section>
    </div>
  );
}

type ShownTask = { readonly lease: string; readonly class?: NodeDetails["running"][number]["class"] };

function Tasks({ tasks }: { readonly tasks: readonly ShownTask[] }) {
  if (tasks.length === 0) return <p class="muted">None</p>;
  return (
    <ul class="tasks">
      {tasks.map(({ lease, class: slotClass }) => {
        const { job, task, attempt } = parseLeaseId(lease) ?? { job: "", task: lease, attempt: 1 };
        return (
          <li key={lease}>
            <Link to={`/jobs/${job}`}>{job}</Link> {task}
            <span class="muted"> {[slotClass, attempt > 1 && `attempt ${attempt}`].filter(Boolean).join(", ")}</span>
          </li>
        );
      })}
    </ul>
  );
}

function Notes({ notes }: { readonly notes: readonly Note[] }) {
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {notes.map(({ kind, text }) => (
        <li key={text} class={kind}>
          <Icon name={kind === "warn" ? "warning" : "help"} /> {text}
        </li>
      ))}
    </ul>
  );
}

function Facts({ node }: { readonly node: NodeDetails }) {
  const { host, version, protocol, disk, connected_at, hub, spot, region } = node;
  const hardware = node.capabilities?.hardware;
  const isolation = node.capabilities?.isolation;
  return (
    <dl class="facts">
      <dt>Host</dt>
      <dd>{host ?? "–"}</dd>
      <dt>Program</dt>
      <dd>{version === null ? "–" : `${version}, protocol ${protocol}`}</dd>
      <dt>Hardware</dt>
      <dd>{hardware ? `${hardware.name}: ${hardware.encoders.join(", ")}` : "software only"}</dd>
      <dt>Disk</dt>
      <dd>{disk ? `${bytes(disk.free_bytes)} of ${bytes(disk.total_bytes)} free` : "–"}</dd>
      <dt>Sandbox</dt>
      <dd>{isolation?.level ?? "–"}</dd>
      <dt>Region</dt>
      <dd>{region ?? "–"}</dd>
      {spot && (
        <>
          <dt>Spot</dt>
          <dd>yes</dd>
        </>
      )}
      <dt>Connected</dt>
      <dd>
        <Time at={connected_at} /> <span class="muted">to {hub}</span>
      </dd>
    </dl>
  );
}

const LISTS = ["encoders", "filters", "muxers"] as const;

function Capabilities({ node: { capabilities } }: { readonly node: NodeDetails }) {
  if (!capabilities) return <p class="muted">Not known while it is not connected</p>;
  return (
    <dl class="facts">
      <dt>ffmpeg</dt>
      <dd>{capabilities.ffmpegVersion}</dd>
      {LISTS.map((name) => {
        const list = capabilities[name] ?? [];
        return list.length === 0 ? null : [<dt key={`${name}-name`}>{name}</dt>, <dd key={name}>{list.join(", ")}</dd>];
      })}
    </dl>
  );
}
