// Measures loudness by ITU-R BS.1770-4 without ffmpeg, to check the figures and files of a node. 48 kHz only.

/** Samples of one channel, from −1 to 1. */
type Samples = Float32Array;
type Biquad = { readonly b: readonly [number, number, number]; readonly a: readonly [number, number] };

/** BS.1770-4, tables 1 and 2. */
const SHELF: Biquad = {
  b: [1.53512485958697, -2.69169618940638, 1.19839281085285],
  a: [-1.69065929318241, 0.73248077421585],
};
const HIGH_PASS: Biquad = { b: [1, -2, 1], a: [-1.99004745483398, 0.99007225036621] };

const RATE_HZ = 48_000;
const BLOCK = 0.4 * RATE_HZ;
const STEP = 0.1 * RATE_HZ;

/** Table 3: front channels 1, surround channels 1.41, LFE none; in the order of ffmpeg's 5.1. */
const weightsOf = (channels: number): number[] => (channels === 6 ? [1, 1, 1, 0, 1.41, 1.41] : Array(channels).fill(1));

function filtered(input: Samples, { b, a }: Biquad): Samples {
  const output = new Float32Array(input.length);
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  for (let at = 0; at < input.length; at++) {
    const x = input[at] ?? 0;
    const y = b[0] * x + b[1] * x1 + b[2] * x2 - a[0] * y1 - a[1] * y2;
    [x2, x1, y2, y1] = [x1, x, y1, y];
    output[at] = y;
  }
  return output;
}

const loudnessOf = (power: number): number => -0.691 + 10 * Math.log10(power);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Integrated loudness in LUFS: blocks of 400 ms, gated at −70 LUFS and at 10 LU below the mean of the rest. */
export function integratedLoudness(channels: readonly Samples[]): number {
  const weighted = channels.map((samples) => filtered(filtered(samples, SHELF), HIGH_PASS));
  const weights = weightsOf(channels.length);
  const length = channels[0]?.length ?? 0;
  const powers: number[] = [];
  for (let start = 0; start + BLOCK <= length; start += STEP) {
    const power = weighted.map((samples, at) => {
      const sum = samples.subarray(start, start + BLOCK).reduce((total, sample) => total + sample * sample, 0);
      return (weights[at] ?? 0) * (sum / BLOCK);
    });
    powers.push(power.reduce((sum, channel) => sum + channel, 0));
  }
  const audible = powers.filter((power) => loudnessOf(power) > -70);
  const gate = loudnessOf(mean(audible)) - 10;
  return loudnessOf(mean(audible.filter((power) => loudnessOf(power) > gate)));
}

/** Taps on each side of the interpolation, and the factor of the oversampling. */
const TAPS = 32;
const FACTOR = 8;

const kernel = Array.from({ length: FACTOR }, (_, phase) =>
  Float64Array.from({ length: 2 * TAPS }, (_, tap) => {
    const x = tap - TAPS + 1 - phase / FACTOR;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * x) / TAPS);
    return (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)) * window;
  }),
);

/** The highest true peak in dBTP: of samples near the highest sample, interpolated by windowed sinc. */
export function truePeak(channels: readonly Samples[]): number {
  let highest = 0;
  for (const samples of channels) {
    const top = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    for (let at = TAPS; at < samples.length - TAPS; at++) {
      if (Math.abs(samples[at] ?? 0) < top / 2) continue;
      for (const phase of kernel) {
        let sum = 0;
        for (let tap = 0; tap < 2 * TAPS; tap++) sum += (phase[tap] ?? 0) * (samples[at - TAPS + 1 + tap] ?? 0);
        highest = Math.max(highest, Math.abs(sum));
      }
    }
  }
  return 20 * Math.log10(highest);
}
