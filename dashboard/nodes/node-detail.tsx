// The details of a node: its tasks, and the capabilities of its ffmpeg.
import { parseLeaseId } from "#shared/ids.ts";
import type { NodeDetails } from "../../client/index.ts";
import { bytes } from "../core/format.ts";
import { admin } from "../core/service.ts";
import { Link } from "../parts/controls/link.tsx";
import { type Fact, Facts } from "../parts/facts.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Time } from "../parts/time.tsx";
import { usePolled } from "../parts/use-resource.ts";
import { type Note, securityNotes } from "./fleet.ts";
import { History } from "./node-history.tsx";

const POLL_MS = 5000;

/** `notes`: the notes that the list already has. */
export function NodeDetail({ id, notes }: { readonly id: string; readonly notes: readonly Note[] }) {
  const loaded = usePolled((signal) => admin.nodes.get(id, { signal }), [id], POLL_MS);
  return (
    <Loaded of={loaded} what="the node">
      {(node) => (
        <div class="node-detail">
          <section aria-label="Tasks">
            <h2>{node.state === "gone" ? "Tasks that it had" : "Tasks now"}</h2>
            <Tasks tasks={node.state === "gone" ? node.lost_leases.map((lease) => ({ lease })) : node.running} />
            <Notes notes={[...notes, ...securityNotes(node)]} />
          </section>
          <History id={id} />
          <section aria-label="Machine">
            <h2>Machine</h2>
            <Facts facts={machineFacts(node)} />
          </section>
          <section aria-label="Capabilities">
            <h2>Supported by its ffmpeg</h2>
            <Capabilities node={node} />
          </section>
        </div>
      )}
    </Loaded>
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
    <ul class="node-notes">
      {notes.map(({ kind, text }) => (
        <li key={text} class={kind}>
          <Icon name={kind === "warn" ? "warning" : "help"} /> {text}
        </li>
      ))}
    </ul>
  );
}

function machineFacts({
  host,
  version,
  protocol,
  disk,
  connected_at,
  hub,
  spot,
  region,
  capabilities,
}: NodeDetails): Fact[] {
  const hardware = capabilities?.hardware;
  return [
    ["Host", host ?? "–"],
    ["Program", version === null ? "–" : `${version}, protocol ${protocol}`],
    ["Hardware", hardware ? `${hardware.name}: ${hardware.encoders.join(", ")}` : "software only"],
    ["Disk", disk ? `${bytes(disk.free_bytes)} of ${bytes(disk.total_bytes)} free` : "–"],
    ["Sandbox", capabilities?.isolation?.level ?? "–"],
    ["Region", region ?? "–"],
    ["Spot", spot && "yes"],
    [
      "Connected",
      [
        <Time key="at" at={connected_at} />,
        <span key="hub" class="muted">
          {" "}
          to {hub}
        </span>,
      ],
    ],
  ];
}

function Capabilities({ node: { capabilities } }: { readonly node: NodeDetails }) {
  if (!capabilities) return <p class="muted">Not known while it is not connected</p>;
  const lists = (["encoders", "filters", "muxers"] as const).map(
    (name): Fact => [name, capabilities[name]?.join(", ") || null],
  );
  return <Facts facts={[["ffmpeg", capabilities.ffmpegVersion], ...lists]} />;
}
