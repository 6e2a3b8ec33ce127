// The commands that nodes ran for a job.
import { useState } from "preact/hooks";
import type { Command, CommandList } from "../../../client/index.ts";
import { shellCommand } from "../../../shared/shell-quote.ts";
import { duration, plural } from "../../core/format.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import type { Resource } from "../../parts/use-resource.ts";

/** The rest is shown on request: a job of many chunks has hundreds of commands. */
const SHOWN = 20;

type Props = { readonly list: Resource<CommandList>; readonly isOver: boolean };

export function Commands({ list, isOver }: Props) {
  const [all, showAll] = useState(false);
  if (list.value === undefined && list.error !== undefined) return <Problem error={list.error} retry={list.reload} />;
  if (list.value === undefined) return <Loading what="the commands" />;
  const { commands, commands_dropped: dropped } = list.value;
  // Failed commands come first: they are the usual reason to look.
  const sorted = [...commands].sort((a, b) => Number(hasFailed(b)) - Number(hasFailed(a)));
  if (commands.length === 0) return <NoCommands isOver={isOver} />;
  return (
    <div class="stack">
      <p class="muted">
        {plural(commands.length, "run")} of ffmpeg. Files have names without folders, the input is <code>source</code>,
        and URLs have no secrets.{dropped > 0 && ` ${plural(dropped, "further run")} are not kept.`}
      </p>
      {(all ? sorted : sorted.slice(0, SHOWN)).map((command) => (
        <Run key={`${command.task} ${command.attempt} ${command.started_at}`} command={command} />
      ))}
      {!all && sorted.length > SHOWN && (
        <button type="button" onClick={() => showAll(true)}>
          Show all {sorted.length}
        </button>
      )}
    </div>
  );
}

const NoCommands = ({ isOver }: Pick<Props, "isOver">) =>
  isOver ? (
    <Empty title="No commands">No node ran ffmpeg for this job.</Empty>
  ) : (
    <Empty title="No commands yet">Nodes report them at the end of their tasks.</Empty>
  );

const hasFailed = ({ exit_code }: Command): boolean => exit_code !== 0;

function Run({ command }: { readonly command: Command }) {
  const { task, attempt, node, argv, started_at, seconds, exit_code, signal, stderr_tail } = command;
  return (
    <details class="card run" open={hasFailed(command)}>
      <summary>
        <strong>
          {task}
          {attempt > 1 && `, attempt ${attempt}`}
        </strong>
        <span class="muted">
          {node} · <Time at={started_at} /> · {duration(seconds)}
        </span>
        {hasFailed(command) ? (
          <Status status="failed" word={signal ?? `exit code ${exit_code}`} />
        ) : (
          <Status status="completed" />
        )}
      </summary>
      <CodeBlock label="ffmpeg" text={shellCommand(argv)} wrap />
      {stderr_tail !== undefined && <CodeBlock label="The end of its output" text={stderr_tail} wrap />}
    </details>
  );
}
