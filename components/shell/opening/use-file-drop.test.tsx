import { fireEvent, render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { DroppedFiles } from '#lib/browser/files/selected-files.ts'
import { useFileDrop, useFilePaste } from './use-file-drop.ts'

const json = new File(['{}'], 'a.json')
const folder = { name: 'dump', isDirectory: true }
const entry = { name: 'a.json', isDirectory: false }

/** Returns what a drop or paste transfers, as browsers give it. */
const transferOf = (files: readonly File[], entries: readonly object[] = [], text = '') => ({
  files,
  types: files.length + entries.length > 0 ? ['Files'] : ['text/plain'],
  items: entries.map((one) => ({ kind: 'file', webkitGetAsEntry: () => one })),
  getData: () => text,
})

function Target({
  takesPaste,
  onFiles,
}: {
  readonly takesPaste: boolean
  readonly onFiles: (dropped: DroppedFiles) => void
}) {
  const isOver = useFileDrop(onFiles)
  useFilePaste(takesPaste, onFiles)
  return (
    <>
      {isOver && <p>over</p>}
      <input aria-label="text" />
      <input type="checkbox" aria-label="check" />
    </>
  )
}

function target(takesPaste = true) {
  const onFiles = vi.fn((_: DroppedFiles) => {})
  render(<Target takesPaste={takesPaste} onFiles={onFiles} />)
  return onFiles
}

test('Dropped files are passed on without entries, and a dropped folder with the entries of all', () => {
  const onFiles = target()
  fireEvent.dragOver(document.body, { dataTransfer: transferOf([json], [entry]) })
  expect(screen.getByText('over')).toBeTruthy()
  fireEvent.drop(document.body, { dataTransfer: transferOf([json], [entry]) })
  expect(screen.queryByText('over')).toBeNull()
  fireEvent.drop(document.body, { dataTransfer: transferOf([json], [entry, folder]) })
  expect(onFiles.mock.calls).toEqual([[{ files: [json], entries: [] }], [{ files: [json], entries: [entry, folder] }]])
})

test('A dropped text is left to the page', () => {
  const onFiles = target()
  fireEvent.drop(document.body, { dataTransfer: transferOf([], [], 'text') })
  expect(onFiles).not.toHaveBeenCalled()
})

test('A pasted text outside of text fields becomes a file, also while a checkbox has the focus', async () => {
  const onFiles = target()
  fireEvent.paste(document.body, { clipboardData: transferOf([], [], '{"a": 1}') })
  fireEvent.paste(screen.getByLabelText('check'), { clipboardData: transferOf([], [], 'data: 1') })
  const files = onFiles.mock.calls.flatMap(([{ files }]) => files)
  expect(files.map(({ name }) => name)).toEqual(['pasted text', 'pasted text'])
  expect(await Promise.all(files.map((file) => file.text()))).toEqual(['{"a": 1}', 'data: 1'])
})

test('Pasted files are opened as dropped ones', () => {
  const onFiles = target()
  fireEvent.paste(document.body, { clipboardData: transferOf([json], [entry], 'a.json') })
  expect(onFiles.mock.calls).toEqual([[{ files: [json], entries: [] }]])
})

test.each([
  ['in a text field', true, () => screen.getByLabelText('text'), '{}'],
  ['on a page that opens no pasted text', false, () => document.body, '{}'],
  ['that is empty', true, () => document.body, ' \n'],
])('A pasted text %s is left to the page', (_, takesPaste, place, text) => {
  const onFiles = target(takesPaste)
  expect(fireEvent.paste(place(), { clipboardData: transferOf([], [], text) })).toBe(true)
  expect(onFiles).not.toHaveBeenCalled()
})
