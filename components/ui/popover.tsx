'use client'
import { type ReactNode, useId, useRef } from 'react'

interface PopoverProps {
  /** Name of the button and of what it opens. */
  readonly label: string
  readonly button: ReactNode
  readonly children: ReactNode
}

/** A button that opens a small panel below itself: the browser's own popover, which Escape and a click elsewhere close. */
export function Popover({ label, button, children }: PopoverProps) {
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const place = () => {
    if (!opener.current || !panel.current) return
    const { right, bottom } = opener.current.getBoundingClientRect()
    panel.current.style.top = `${bottom + 4}px`
    panel.current.style.right = `${Math.max(8, document.documentElement.clientWidth - right)}px`
  }
  return (
    <>
      <button
        ref={opener}
        type="button"
        popoverTarget={id}
        aria-label={label}
        title={label}
        className="inline-flex min-h-7 shrink-0 items-center gap-1.5 rounded-md border border-line bg-raised px-2 hover:border-line-strong"
      >
        {button}
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        role="dialog"
        aria-label={label}
        onBeforeToggle={place}
        className="inset-auto m-0 max-w-[calc(100vw-16px)] rounded-lg border border-line bg-ground p-3 text-ink shadow-xl"
      >
        {children}
      </div>
    </>
  )
}
