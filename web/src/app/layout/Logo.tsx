export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="#0b7285" />
      <path d="M8 8.5c3-1 6-.6 8 1.2v14c-2-1.8-5-2.2-8-1.2z" fill="#fff" />
      <path d="M24 8.5c-3-1-6-.6-8 1.2v14c2-1.8 5-2.2 8-1.2z" fill="#99e9f2" />
    </svg>
  );
}
