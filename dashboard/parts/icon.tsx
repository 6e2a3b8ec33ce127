// Icons on a grid of 16, in the color of the text. They are decoration: each has a text beside it.
const PATHS = {
  jobs: "M2.5 4h11M2.5 8h11M2.5 12h7",
  add: "M8 3v10M3 8h10",
  template: "M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2",
  nodes: "M3 2.5h10v4H3zM3 9.5h10v4H3zM5.5 4.5h.01M5.5 11.5h.01",
  usage: "M3 13.5V9M8 13.5v-11M13 13.5V6",
  settings: "M2.5 5h4M10.5 5h3M2.5 11h3M9.5 11h4M8.5 3v4M7.5 9v4",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  check: "M3 8.5l3.2 3L13 4.5",
  close: "M4 4l8 8M12 4l-8 8",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3 3",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3l8 5-8 5z",
  previousFrame: "M11.5 3.5L5.5 8l6 4.5zM3 3.5v9",
  nextFrame: "M4.5 3.5l6 4.5-6 4.5zM13 3.5v9",
  audible: "M2.5 6v4H5l3.5 3V3L5 6zM11 5.5a3.5 3.5 0 0 1 0 5M12.8 3.5a6.3 6.3 0 0 1 0 9",
  muted: "M2.5 6v4H5l3.5 3V3L5 6zM11 6l3.5 4M14.5 6L11 10",
  fullScreen: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  retry: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.8h-2.8",
  external: "M9.5 2.5h4v4M13.5 2.5l-6 6M11.5 9v4.5h-9v-9H7",
  download: "M8 2.5v8M4.5 7.5L8 11l3.5-3.5M2.5 13.5h11",
  upload: "M8 10.5v-8M4.5 6L8 2.5 11.5 6M2.5 13.5h11",
  chevron: "M6 3.5L10.5 8 6 12.5",
  grip: "M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01",
  up: "M3.5 10L8 5.5 12.5 10",
  down: "M3.5 6L8 10.5 12.5 6",
  warning: "M8 2.5l6 11H2zM8 6.5v3.5M8 12h.01",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.2 6.3a1.8 1.8 0 1 1 2.6 1.9c-.6.3-.8.6-.8 1.2M8 11.5h.01",
  edit: "M3 13l.6-2.8L10.8 3 13 5.2 5.8 12.4z",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9",
  signOut: "M6.5 13.5h-4v-11h4M10 5l3 3-3 3M13 8H6",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
