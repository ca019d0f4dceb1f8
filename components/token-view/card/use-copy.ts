import { type RefObject, useEffect, useEffectEvent } from 'react'
import type { CopiedText } from './selected-tokens.ts'

/**
 * Answers the browser's own copy while the element has the focus: that needs no leave, and works on pages that are not
 * given the clipboard. Browsers tell it to the page, not to an element in which no text is selected.
 */
export function useCopy(
  element: RefObject<HTMLElement | null>,
  chosen: () => CopiedText | undefined,
  onSay: ((message: string) => void) | undefined,
): void {
  const copy = useEffectEvent((event: ClipboardEvent) => {
    if (document.activeElement !== element.current) return
    const copied = chosen()
    if (!copied) return
    event.preventDefault()
    event.clipboardData?.setData('text/plain', copied.text)
    onSay?.(copiedNote(copied))
  })
  useEffect(() => {
    document.addEventListener('copy', copy)
    return () => document.removeEventListener('copy', copy)
  }, [])
}

/** What is said after a text was copied. */
export const copiedNote = ({ text, isExact }: CopiedText): string =>
  isExact
    ? `Text copied: ${text.length.toLocaleString('en')} characters.`
    : 'Text copied, but some bytes are missing: a token with only a part of a character has no text. Copy ids or hex instead.'
