/**
 * Gives a text to the clipboard; false where the browser refuses. Pages over plain HTTP from another machine have no
 * clipboard of their own: there the browser is asked to copy, and its question is answered.
 */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  let isCopied = false
  const answer = (event: ClipboardEvent) => {
    event.preventDefault()
    event.stopImmediatePropagation()
    event.clipboardData?.setData('text/plain', text)
    isCopied = event.clipboardData !== null
  }
  window.addEventListener('copy', answer, { capture: true })
  document.execCommand?.('copy')
  window.removeEventListener('copy', answer, { capture: true })
  return isCopied
}
