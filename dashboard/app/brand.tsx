/** The name with its logo: half a coconut with a line through it. */
export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <path class="shell" d="M1.5 8a8.5 8.5 0 0 0 17 0z" />
        <path class="flesh" d="M4.5 8a5.5 5.5 0 0 0 11 0z" />
        <path class="line" d="M1 5.5h18" />
      </svg>
      Copra
    </span>
  );
}
