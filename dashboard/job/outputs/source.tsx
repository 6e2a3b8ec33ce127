// The source above the outputs, and sizes in proportion to it.
import type { ComponentChildren } from "preact";
import type { Job, MediaMetadata } from "../../../client/index.ts";
import { bytes, short } from "../../core/format.ts";
import { Thumbnail } from "../../jobs/thumbnail.tsx";
import { Facts } from "../../parts/facts.tsx";
import { fileFigures } from "./figures.ts";

type Props = { readonly job: Job; readonly input: MediaMetadata; readonly size: ComponentChildren };

export const Source = ({ job, input, size }: Props) => (
  <li class="source">
    <Thumbnail job={job} />
    <div class="output-title">
      <h3>Source</h3>
      {size}
    </div>
    <Facts look="figures" facts={fileFigures(input)} />
  </li>
);

type SizeProps = {
  /** In bytes, as the others. */
  readonly size: number;
  /** null: unknown. */
  readonly source: number | null;
  readonly largest: number;
};

/** A size as a bar and as text. The largest size of the job has the whole bar. */
export const Size = ({ size, source, largest }: SizeProps) => (
  <span class="size">
    <span class="bar" style={{ "--share": size / largest }} aria-hidden="true" />
    {bytes(size)}
    {source !== null && size !== source && <span class="muted">{short((100 * size) / source)} % of the source</span>}
  </span>
);
