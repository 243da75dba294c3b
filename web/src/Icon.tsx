/** Line icons of 24 × 24. */
const PATHS = {
  move: "M12 3v18M3 12h18M12 3l-2.5 2.5M12 3l2.5 2.5M12 21l-2.5-2.5M12 21l2.5-2.5M3 12l2.5-2.5M3 12l2.5 2.5M21 12l-2.5-2.5M21 12l-2.5 2.5",
  lasso:
    "M12 4.5c5 0 9 2.5 9 6s-4 6-9 6c-1.700 0-3.300-.3-4.700-.8M12 4.500c-5 0-9 2.500-9 6 0 1.700 1 3.300 2.600 4.400M7.500 17.500a2 2 0 1 1-2.800-2.800 2 2 0 0 1 2.800 2.800c1 1 .6 3-1.500 3.500",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  whole: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  save: "M12 4v11M7.500 11 12 15.500 16.500 11M4.500 19.500h15",
  close: "M6 6l12 12M18 6 6 18",
  search: "M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13ZM15.500 15.500 21 21",
  draw: "M4 20l1-4L16.500 4.500a2.100 2.100 0 0 1 3 3L8 19l-4 1ZM14.500 6.500l3 3",
  file: "M6 3h8l4.500 4.500V21H6ZM14 3v5h4.500",
  play: "M7 4.500v15l12-7.500Z",
  pause: "M8 5v14M16 5v14",
  next: "M9 5l7 7-7 7",
  back: "M15 5l-7 7 7 7",
  first: "M17 5l-7 7 7 7M7 5v14",
  last: "M7 5l7 7-7 7M17 5v14",
  sun: "M12 16.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9ZM12 2v2.500M12 19.500V22M2 12h2.500M19.500 12H22M5 5l1.700 1.700M17.300 17.300 19 19M19 5l-1.700 1.700M6.700 17.300 5 19",
  moon: "M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500Z",
  help: "M9 9.200a3 3 0 1 1 4.200 2.800c-.8.4-1.200 1-1.200 2M12 17.300v.2",
  check: "M5 12.500l4.500 4.500L19 7.500",
  pin: "M12 21s6.500-6 6.500-11a6.500 6.500 0 0 0-13 0c0 5 6.500 11 6.500 11ZM12 12.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5Z",
  stop: "M6.500 6.500h11v11h-11Z",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.700-5.700L11.800 7.200M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.700 5.700l1.500-1.500",
  undo: "M8 5 4 9l4 4M4 9h10a6 6 0 0 1 0 12h-3",
  trash: "M5 7h14M10 7V4.500h4V7M7 7l.8 12.500h8.400L17 7",
  target: "M12 19a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM12 2v5M12 17v5M2 12h5M17 12h5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

interface ButtonProps {
  icon: IconName;
  label: string;
  onClick: () => void;
  pressed?: boolean;
  disabled?: boolean;
  keys?: string;
}

export function IconButton({ icon, label, onClick, pressed, disabled, keys }: ButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={keys ? `${label} (${keys})` : label}
      aria-pressed={pressed}
      aria-keyshortcuts={keys}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
