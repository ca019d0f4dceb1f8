import { type RefObject, useEffect, useEffectEvent } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import type { CopiedText } from './selected-tokens.ts'

/**
 * Answers the browser's copy command while the element has the focus. This needs no permission and also works on pages without access to
 * the clipboard. The listener is on the document, because browsers send no copy event to an element without selected text.
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

/** Returns the message that confirms a copy, or warns that bytes are missing. */
export const copiedNote = ({ text, isExact }: CopiedText): string =>
  isExact
    ? `Text copied: ${countText(text.length)} characters.`
    : 'Text copied, but some bytes are missing: a token with only a part of a character has no text. Copy ids or hex instead.'
