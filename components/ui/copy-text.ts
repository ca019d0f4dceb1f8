/**
 * Copies a text to the clipboard; returns false if the browser refuses. Pages over plain HTTP from another machine have no
 * clipboard API, so there the browser's copy command is triggered and its event answered.
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

/** Copies a text and returns the message for the user: `done`, or that the browser refused. */
export const copyAndDescribe = async (text: string, done: string): Promise<string> =>
  (await copyText(text)) ? done : 'The browser refused to copy.'
