'use client'
import { X } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from './button.tsx'
import { visibleText } from './visible-text.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  /** Whether a click outside closes the dialog; `false` if it contains unsaved input. */
  readonly closesBeside?: boolean
  /** `wide` is for content that is read rather than filled in. */
  readonly width?: 'plain' | 'wide'
  readonly children: ReactNode
}

const WIDTHS = { plain: 'w-[min(560px,calc(100vw-24px))]', wide: 'w-[min(960px,calc(100vw-24px))]' } as const

/**
 * A modal dialog, based on the browser's own, which traps and restores the focus. The initial focus is on the element with
 * `data-first-focus`, if there is one; in a text area, typing continues its text.
 */
export function Dialog({ title, onClose, closesBeside = true, width = 'plain', children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current
    const opener = document.activeElement
    const part = opener?.closest('section')
    if (!element?.open) element?.showModal()
    const first = element?.querySelector<HTMLElement>('[data-first-focus]')
    first?.focus()
    if (first instanceof HTMLTextAreaElement) first.setSelectionRange(first.value.length, first.value.length)
    return () => {
      // If the dialog is unmounted without being closed, the browser does not restore the focus. The dialog may have deleted its opener.
      queueMicrotask(() => {
        const target = opener?.isConnected ? opener : part?.querySelector('button:enabled, a')
        if (!element?.isConnected && target instanceof HTMLElement) target.focus()
      })
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes the dialog on Escape
    <dialog
      ref={dialog}
      aria-label={visibleText(title)}
      onCancel={(event) => {
        // The cancel event of a file field bubbles to here too.
        if (event.target !== dialog.current) return
        // The default action is prevented: the browser would send the close event later, and a key pressed before it would
        // be lost.
        event.preventDefault()
        onClose()
      }}
      onClose={onClose}
      onClick={(event) => closesBeside && event.target === dialog.current && onClose()}
      className={`mx-auto mt-[6dvh] mb-auto ${WIDTHS[width]} max-h-[calc(94dvh-24px)] rounded-lg border border-line bg-ground p-0 text-ink shadow-xl backdrop:bg-black/40`}
    >
      <div className="sticky top-0 z-10 flex items-center justify-between border-line border-b bg-ground px-4 py-2.5">
        <h2 className="font-semibold text-sm">{visibleText(title)}</h2>
        <Button look="quiet" aria-label="Close" onClick={onClose}>
          <X size={16} aria-hidden />
        </Button>
      </div>
      <div className="p-4">{children}</div>
    </dialog>
  )
}
