// Draws the rate-quality curves of all clips as SVG: bitrate on a logarithmic axis, first percentile of VMAF.
import type { ClipResult } from "./encodes.ts";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [760, 420, 56, 48, 20, 120];
const COLORS = ["#b4442f", "#2f6fb4", "#3c8f4a", "#8a5cb0", "#b98a1e", "#3a8f94"];

/** The curve of each clip over the fixed rate factors, with a dot for the rate factor that the search chose. */
export function curvesSvg(results: readonly ClipResult[], vmaf: number): string {
  const points = results.flatMap(({ fixed, target }) => [...fixed, target]);
  const rates = points.map(({ kbps }) => Math.log10(kbps));
  const [minRate, maxRate] = [Math.floor(Math.min(...rates)), Math.ceil(Math.max(...rates))];
  const minVmaf = Math.max(0, 10 * Math.floor(Math.min(...points.map(({ percentile_1 }) => percentile_1)) / 10));
  const x = (kbps: number): number =>
    LEFT + ((Math.log10(kbps) - minRate) / (maxRate - minRate)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number): number =>
    HEIGHT - BOTTOM - ((value - minVmaf) / (100 - minVmaf)) * (HEIGHT - BOTTOM - TOP);
  const at = (kbps: number, value: number): string => `${x(kbps).toFixed(1)},${y(value).toFixed(1)}`;
  const lines: string[] = [];
  for (let value = minVmaf; value <= 100; value += 10) {
    lines.push(`<path class="grid" d="M${LEFT} ${y(value)}H${WIDTH - RIGHT}"/>`);
    lines.push(`<text x="${LEFT - 8}" y="${y(value) + 4}" text-anchor="end">${value}</text>`);
  }
  for (let power = minRate; power <= maxRate; power += 1) {
    lines.push(`<path class="grid" d="M${x(10 ** power)} ${TOP}V${HEIGHT - BOTTOM}"/>`);
    lines.push(`<text x="${x(10 ** power)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${10 ** power}</text>`);
  }
  for (const [index, { clip, fixed, target }] of results.entries()) {
    const color = COLORS[index % COLORS.length];
    const sorted = fixed.toSorted((a, b) => a.kbps - b.kbps);
    const path = sorted.map(({ kbps, percentile_1 }) => at(kbps, percentile_1)).join(" ");
    const [cx, cy] = [x(target.kbps).toFixed(1), y(target.percentile_1).toFixed(1)];
    lines.push(`<polyline fill="none" stroke="${color}" stroke-width="2" points="${path}"/>`);
    lines.push(`<circle cx="${cx}" cy="${cy}" r="5" fill="${color}"/>`);
    lines.push(
      `<text x="${WIDTH - RIGHT + 24}" y="${TOP + 20 * (index + 1)}" fill="${color}" class="name">${clip}</text>`,
    );
    lines.push(`<circle cx="${WIDTH - RIGHT + 14}" cy="${TOP + 20 * (index + 1) - 4}" r="5" fill="${color}"/>`);
  }
  const style = "text{font:13px sans-serif;fill:#777}.grid{stroke:#8884;fill:none}.name{fill:inherit}";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">
<title>Bitrate and first percentile of VMAF of each clip: lines are fixed rate factors, dots what was found for VMAF ${vmaf}</title>
<style>${style}</style>
${lines.join("\n")}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">kbit/s</text>
<text transform="translate(14 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle">VMAF, 1st percentile</text>
</svg>
`;
}
