import type { ReactNode } from 'react'

interface IconButtonProps {
  /** Its name, and what a pointer that rests on it is told. */
  readonly label: string
  readonly disabled?: boolean
  readonly onClick: (() => void) | undefined
  readonly children: ReactNode
}

/** A button that is a sign. */
export const IconButton = ({ label, disabled = false, onClick, children }: IconButtonProps) => (
  <button
    type="button"
    className="grid size-7 shrink-0 place-items-center rounded-md text-dim hover:bg-panel hover:text-ink disabled:cursor-not-allowed disabled:opacity-40"
    aria-label={label}
    title={label}
    disabled={disabled}
    onClick={onClick}
  >
    {children}
  </button>
)
