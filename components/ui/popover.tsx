'use client'
import { type ReactNode, type Ref, useId, useImperativeHandle, useRef } from 'react'

interface PopoverProps {
  /** Name of the button and of the panel. */
  readonly label: string
  readonly button: ReactNode
  /** Called when the panel opens or has closed. */
  readonly onOpen?: (isOpen: boolean) => void
  readonly control?: Ref<PopoverControl> | undefined
  readonly children: ReactNode
}

/** Access to a popover from a key or a command. */
export interface PopoverControl {
  /** Opens the popover and moves the focus into it, or closes it. */
  readonly toggle: () => void
}

/** Smallest distance to the edges of the window, in pixels. */
const MARGIN = 8

/** A button that opens a small panel. It is the browser's own popover, which Escape and a click outside close. */
export function Popover({ label, button, onOpen, control, children }: PopoverProps) {
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  useImperativeHandle(
    control,
    () => ({
      toggle: () => {
        if (panel.current?.togglePopover()) panel.current.focus()
      },
    }),
    [],
  )
  const place = () => {
    if (!opener.current || !panel.current) return
    const { top, right, bottom, left } = opener.current.getBoundingClientRect()
    const { clientWidth, clientHeight } = document.documentElement
    // The size of the panel is unknown here, so it opens in the direction with more room.
    const isAbove = top + bottom > clientHeight
    const isToTheRight = left + right < clientWidth
    const { style } = panel.current
    style.top = isAbove ? 'auto' : `${bottom + 4}px`
    style.bottom = isAbove ? `${clientHeight - top + 4}px` : 'auto'
    style.left = isToTheRight ? `${Math.max(MARGIN, left)}px` : 'auto'
    style.right = isToTheRight ? 'auto' : `${Math.max(MARGIN, clientWidth - right)}px`
  }
  const bringInside = () => {
    if (!panel.current) return
    const { left, right, width } = panel.current.getBoundingClientRect()
    const { clientWidth } = document.documentElement
    if (left >= MARGIN && right <= clientWidth - MARGIN) return
    panel.current.style.right = 'auto'
    panel.current.style.left = `${Math.max(MARGIN, Math.min(left, clientWidth - MARGIN - width))}px`
  }
  return (
    <>
      <button
        ref={opener}
        type="button"
        popoverTarget={id}
        aria-label={label}
        title={label}
        className="inline-flex min-h-8 shrink-0 items-center gap-1.5 rounded-md border border-line bg-raised px-2 hover:border-line-strong"
      >
        {button}
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        role="dialog"
        aria-label={label}
        tabIndex={-1}
        onBeforeToggle={({ newState }) => {
          if (newState === 'open') onOpen?.(true)
          place()
        }}
        onToggle={({ newState }) => {
          if (newState === 'closed') onOpen?.(false)
          bringInside()
        }}
        className="inset-auto m-0 max-w-[calc(100vw-16px)] rounded-lg border border-line bg-ground p-3 text-ink shadow-xl"
      >
        {children}
      </div>
    </>
  )
}
