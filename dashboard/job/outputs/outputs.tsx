// The outputs of a job: their figures, links, players and images.
import { useEffect, useState } from "preact/hooks";
import type { Job, Output } from "../../../client/index.ts";
import { short } from "../../core/format.ts";
import { useKeys } from "../../core/keyboard.ts";
import { copra } from "../../core/service.ts";
import { Thumbnail } from "../../jobs/thumbnail.tsx";
import { Card } from "../../parts/card.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { Facts } from "../../parts/facts.tsx";
import { useResource } from "../../parts/use-resource.ts";
import { type Figure, fileFigures, loudnessFigures, sizeOf, streamFigures } from "./figures.ts";
import { OutputItem, Size } from "./output-item.tsx";
import {
  inputOf,
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
  readonly metadata: Known["metadata"];
};

/**
 * The media in the player: one, or two to compare. It stays while the job changes, so that a growing stream plays on.
 */
type Shown = { readonly first: Playable | null; readonly last: Playable; readonly compares: boolean };

export function Outputs({ job, request, metadata }: Props) {
  const known: Known = { request, metadata, uploadUrl: useUploadUrl(job) };
  const input = inputOf(known);
  const largest = Math.max(sizeOf(input), ...job.outputs.map((output) => sizeOf(metadataOf(output, known))));
  const sizeBar = (size: number) => size > 0 && <Size size={size} of={sizeOf(input)} largest={largest} />;
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
  const actions = (
    <>
      {job.speed !== undefined && <p class="muted">Encoded at {short(job.speed)}× real time</p>}
      {first && playing === null && <Button text="Compare with the source" onClick={() => compare(first)} />}
    </>
  );
  return (
    <Card title="Outputs" class="outputs" actions={actions}>
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
        {input && (
          <li class="source">
            <Thumbnail job={job} />
            <div class="output-title">
              <h3>Source</h3>
              {sizeBar(sizeOf(input))}
            </div>
            <Facts look="figures" facts={fileFigures(input)} />
          </li>
        )}
        {job.outputs.map((output) => (
          <li key={output.key}>
            <OutputItem
              output={output}
              size={sizeBar(sizeOf(metadataOf(output, known)))}
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
