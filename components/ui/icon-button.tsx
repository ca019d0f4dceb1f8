import type { ReactNode } from 'react'
import { useStableFocus } from './button.tsx'

interface IconButtonProps {
  /** Accessible name and tooltip. */
  readonly label: string
  readonly disabled?: boolean
  /** State of a toggle button; omitted for other buttons. */
  readonly isPressed?: boolean
  readonly onClick: (() => void) | undefined
  readonly children: ReactNode
}

/** A button that shows an icon. It keeps the focus when it becomes disabled. */
export const IconButton = ({ label, disabled = false, isPressed, onClick, children }: IconButtonProps) => (
  <button
    className="grid size-7 shrink-0 place-items-center rounded-md text-dim hover:bg-panel hover:text-ink disabled:cursor-not-allowed disabled:opacity-40 aria-disabled:cursor-not-allowed aria-disabled:opacity-40 aria-pressed:bg-accent-soft aria-pressed:text-ink"
    aria-label={label}
    aria-pressed={isPressed}
    title={label}
    {...useStableFocus({ disabled, onClick })}
  >
    {children}
  </button>
)
