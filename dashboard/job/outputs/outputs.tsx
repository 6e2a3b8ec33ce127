// The outputs of a job: their figures, links, players and images.
import { useEffect, useState } from "preact/hooks";
import type { Job, Output } from "../../../client/index.ts";
import { useKeys } from "../../core/keyboard.ts";
import { copra } from "../../core/service.ts";
import { Card } from "../../parts/card.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { useResource } from "../../parts/use-resource.ts";
import { type Figure, fileFigures, loudnessFigures, streamFigures } from "./figures.ts";
import { OutputItem } from "./output-item.tsx";
import {
  type Known,
  metadataOf,
  type Playable,
  playablesOf,
  playablesOfOutput,
  sourceOf,
  uploadOf,
  withOffset,
} from "./playable.ts";
import { Player } from "./player.tsx";
import "./outputs.css";

type Props = {
  readonly job: Job;
  /** Undefined until the request has been read, or if it is no longer kept. */
  readonly request: Known["request"];
};

/**
 * The media in the player: one, or two to compare. It stays while the job changes, so that a growing stream plays on.
 */
type Shown = { readonly first: Playable | null; readonly last: Playable; readonly compares: boolean };

export function Outputs({ job, request }: Props) {
  const done = job.outputs.filter(({ status }) => /\.(encoded|created|packaged)$/.test(status)).length;
  const metadata = useResource(
    (signal) => (done === 0 ? Promise.resolve(undefined) : copra.jobs.metadata(job.id, undefined, { signal })),
    [job.id, done],
  );
  const upload = useUploadUrl(job);
  const known: Known = { request, metadata: metadata.value?.metadata, uploadUrl: upload };
  const [playing, show] = useState<Shown | null>(null);
  const all = playablesOf(job, known);
  const source = sourceOf(job, known);
  // Only the request has the start of an output in the source, and it may arrive after a click.
  useEffect(() => {
    show((now) => now && { ...now, first: now.first && withOffset(now.first, all), last: withOffset(now.last, all) });
  }, [request]);
  const play = (playable: Playable): void => show({ first: null, last: playable, compares: false });
  const compare = (playable: Playable): void =>
    show({ first: source ?? all.find(({ id }) => id !== playable.id) ?? null, last: playable, compares: true });
  const [first] = all;
  useKeys(
    {
      p: { help: "Play the first output", run: () => first && play(first), when: () => first !== undefined },
      v: { help: "Compare with the source", run: () => first && compare(first), when: () => first !== undefined },
    },
    "Outputs",
  );
  const compareButton = first && playing === null && (
    <Button text="Compare with the source" onClick={() => compare(first)} />
  );
  return (
    <Card title="Outputs" class="outputs" actions={compareButton}>
      {playing && (
        <Player
          {...playing}
          choices={source ? [source, ...all] : all}
          storage={request?.storage}
          choose={(next) => show({ ...playing, ...next })}
          close={() => show(null)}
        />
      )}
      <ul class="output-list">
        {job.outputs.map((output) => (
          <li key={output.key}>
            <OutputItem
              output={output}
              figures={figuresOf(output, known)}
              quality={metadataOf(output, known)?.quality}
              playables={playablesOfOutput(job, output, known)}
              play={play}
              compare={compare}
            />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The URL of an uploaded source; undefined if the source was not uploaded, or was removed. */
function useUploadUrl(job: Job): string | undefined {
  const id = uploadOf(job);
  const upload = useResource(
    (signal) => (id === null ? Promise.resolve(undefined) : copra.uploads.get(id, { signal })),
    [id],
  );
  return upload.value?.url;
}

function figuresOf(output: Output, known: Known): readonly Figure[] {
  const { type, encoder } = output;
  const metadata = metadataOf(output, known);
  if (metadata === undefined || type === "image") return [];
  const figures = [
    ...("hls" in metadata || "dash" in metadata ? streamFigures(metadata) : fileFigures(metadata)),
    ...loudnessFigures(metadata.loudness),
  ];
  return encoder === undefined ? figures : [...figures, ["Encoder", encoder]];
}
