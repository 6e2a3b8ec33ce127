// The commands that nodes ran for a job, and the commands that run now.
import type { ComponentChildren } from "preact";
import type { Command, CommandList } from "../../../client/index.ts";
import { shellCommand } from "../../../shared/shell-quote.ts";
import { duration, plural } from "../../core/format.ts";
import { copra } from "../../core/service.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Empty } from "../../parts/empty.tsx";
import { First } from "../../parts/first.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import type { Resource } from "../../parts/use-resource.ts";
import { usePolled } from "../../parts/use-resource.ts";

/** The rest is shown on request: a job of many chunks has hundreds of commands. */
const SHOWN = 20;

/** Each poll asks the nodes of the job. */
const POLL_MS = 5000;

type Props = { readonly id: string; readonly list: Resource<CommandList>; readonly isOver: boolean };

export function Commands({ id, list, isOver }: Props) {
  return (
    <div class="stack">
      {!isOver && <RunningNow id={id} />}
      <Loaded of={list} what="the commands">
        {(known) => <Ended list={known} />}
      </Loaded>
    </div>
  );
}

/** The commands that run now, with the last lines of their output. */
function RunningNow({ id }: { readonly id: string }) {
  const { value } = usePolled((signal) => copra.jobs.running(id, { signal }), [id], POLL_MS);
  return value?.commands.map(({ output, ...command }) => (
    <details class="card run" key={`${command.task} ${command.started_at}`} open={value.commands.length <= FEW}>
      <Title command={command}>
        <Status status="running" />
      </Title>
      <CodeBlock label="ffmpeg" text={shellCommand(command.argv)} wrap />
      {output !== "" && <CodeBlock label="Its output now" text={output} wrap />}
    </details>
  ));
}

/** More running commands are shown as titles first. */
const FEW = 3;

function Ended({ list: { commands, commands_dropped: dropped } }: { readonly list: CommandList }) {
  // Failed commands come first: they are the usual reason to look.
  const sorted = [...commands].sort((a, b) => Number(hasFailed(b)) - Number(hasFailed(a)));
  if (commands.length === 0)
    return <Empty title="No command has ended yet">Nodes report them at the end of their tasks.</Empty>;
  return (
    <div class="stack">
      <p class="muted">
        {plural(commands.length, "run")} of ffmpeg. Files have names without folders, the input is <code>source</code>,
        and URLs have no secrets.{dropped > 0 && ` ${plural(dropped, "further run")} are not kept.`}
      </p>
      <First of={sorted} count={SHOWN}>
        {(first) =>
          first.map((command) => (
            <Run key={`${command.task} ${command.attempt} ${command.started_at}`} command={command} />
          ))
        }
      </First>
    </div>
  );
}

const hasFailed = ({ exit_code }: Command): boolean => exit_code !== 0;

type TitleProps = {
  readonly command: Pick<Command, "task" | "attempt" | "node" | "started_at" | "seconds">;
  readonly children: ComponentChildren;
};

function Title({ command: { task, attempt, node, started_at, seconds }, children }: TitleProps) {
  return (
    <summary>
      <strong>
        {task}
        {attempt > 1 && `, attempt ${attempt}`}
      </strong>
      <span class="muted">
        {node} · <Time at={started_at} /> · {duration(seconds)}
      </span>
      {children}
    </summary>
  );
}

function Run({ command }: { readonly command: Command }) {
  const { argv, exit_code, signal, stderr_tail } = command;
  return (
    <details class="card run" open={hasFailed(command)}>
      <Title command={command}>
        {hasFailed(command) ? (
          <Status status="failed" word={signal ?? `exit code ${exit_code}`} />
        ) : (
          <Status status="completed" />
        )}
      </Title>
      <CodeBlock label="ffmpeg" text={shellCommand(argv)} wrap />
      {stderr_tail !== undefined && <CodeBlock label="The end of its output" text={stderr_tail} wrap />}
    </details>
  );
}
