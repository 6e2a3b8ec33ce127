// The patterns of the timeline: what a bar shows is seen without its color, too.

/** Definitions for one drawing; ids are unique in the page because the drawing is there once. */
export function Patterns() {
  return (
    <defs>
      <pattern id="tl-dots" width="5" height="5" patternUnits="userSpaceOnUse">
        <circle cx="1.25" cy="1.25" r="0.9" />
        <circle cx="3.75" cy="3.75" r="0.9" />
      </pattern>
      <pattern id="tl-lines" width="4" height="4" patternUnits="userSpaceOnUse">
        <path d="M1 0V4" />
      </pattern>
      <pattern id="tl-waves" width="8" height="4" patternUnits="userSpaceOnUse">
        <path d="M0 3q2 -3 4 0t4 0" />
      </pattern>
      <pattern id="tl-steps" width="6" height="6" patternUnits="userSpaceOnUse">
        <path d="M0 6L3 0L6 6" />
      </pattern>
      <pattern id="tl-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path d="M1.5 0V6" />
      </pattern>
      <pattern id="tl-thin" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
        <path d="M1 0V5" />
      </pattern>
    </defs>
  );
}
