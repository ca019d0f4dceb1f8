/** Files that are dropped or pasted anywhere in the window. */
import { useEffect, useEffectEvent, useState } from 'react'
import type { DroppedFiles } from '#lib/browser/files/selected-files.ts'

/** Calls `onDrop` for files and folders dropped anywhere in the window; returns true while some are dragged over it. */
export function useFileDrop(onDrop: (dropped: DroppedFiles) => unknown): boolean {
  const [isOver, setIsOver] = useState(false)
  const drop = useEffectEvent((transfer: DataTransfer) => {
    const dropped = droppedIn(transfer)
    if (dropped) onDrop(dropped)
  })
  useEffect(() => {
    const fileTransfer = ({ dataTransfer }: DragEvent) =>
      dataTransfer?.types.includes('Files') ? dataTransfer : undefined
    const onOver = (event: DragEvent) => {
      if (!fileTransfer(event)) return
      event.preventDefault()
      setIsOver(true)
    }
    const onLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setIsOver(false)
    }
    const onDropped = (event: DragEvent) => {
      setIsOver(false)
      const transfer = fileTransfer(event)
      // A component that takes files itself has prevented the default action.
      if (!transfer || event.defaultPrevented) return
      event.preventDefault()
      drop(transfer)
    }
    window.addEventListener('dragover', onOver)
    window.addEventListener('dragleave', onLeave)
    window.addEventListener('drop', onDropped)
    return () => {
      window.removeEventListener('dragover', onOver)
      window.removeEventListener('dragleave', onLeave)
      window.removeEventListener('drop', onDropped)
    }
  }, [])
  return isOver
}

/** Calls `onPaste` for files and texts pasted outside of a text field, while `takesPaste` is true. */
export function useFilePaste(takesPaste: boolean, onPaste: (pasted: DroppedFiles) => unknown): void {
  const paste = useEffectEvent((event: ClipboardEvent) => {
    if (!takesPaste || event.defaultPrevented || isInTextField(event.target) || !event.clipboardData) return
    const pasted = droppedIn(event.clipboardData) ?? pastedText(event.clipboardData)
    if (!pasted) return
    event.preventDefault()
    onPaste(pasted)
  })
  useEffect(() => {
    window.addEventListener('paste', paste)
    return () => window.removeEventListener('paste', paste)
  }, [])
}

/** Inputs in which nothing is typed. */
const NOT_TYPED = ['checkbox', 'radio', 'range', 'file', 'button'].map((type) => `[type=${type}]`).join()

const isInTextField = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(`input:not(${NOT_TYPED}), textarea, [contenteditable]`) !== null

/** The name of a text that has no file. */
const PASTED = 'pasted text'

function pastedText(clipboard: DataTransfer): DroppedFiles | undefined {
  const text = clipboard.getData('text/plain')
  return text.trim() === '' ? undefined : { files: [new File([text], PASTED)], entries: [] }
}

/**
 * Returns the files and folders of a drop; undefined without any. Browsers forget the content when the event ends, so the entries are
 * read here.
 */
function droppedIn({ files, items }: DataTransfer): DroppedFiles | undefined {
  const entries = [...items].flatMap((item) => (item.kind === 'file' && item.webkitGetAsEntry()) || [])
  const hasFolder = entries.some(({ isDirectory }) => isDirectory)
  return files.length === 0 && !hasFolder ? undefined : { files: [...files], entries: hasFolder ? entries : [] }
}
