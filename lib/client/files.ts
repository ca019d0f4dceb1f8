/**
 * Files: written from what is on screen, read from what the user chooses or drops. The formats are loaded when the first
 * file is: no page needs them before.
 */
import { fileName, severalFileName } from '#lib/core/file.ts'
import { readableJson } from '#lib/core/readable-json.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { ApiError, callApi } from './api.ts'

/** What a format makes of a trajectory: its row in the list of exports. */
export interface ExportChoice {
  readonly name: string
  readonly label: string
  /** What files of the format keep. */
  readonly keeps: string
  /** What of this trajectory such a file does not say. Omitted: not known, as of several. */
  readonly lost?: readonly string[]
  readonly save: () => void
}

export async function exportChoices(trajectory: Trajectory): Promise<readonly ExportChoice[]> {
  const { writableFormats } = await import('#lib/formats/registry.ts')
  return writableFormats.map(({ name, label, keeps, write }) => {
    const { value, lost } = write(trajectory)
    return {
      name,
      label,
      keeps,
      lost,
      save: () => saveText(readableJson(value), fileName(trajectory, name)),
    }
  })
}

/** Several stored trajectories as JSONL, in this order. `onError` hears what the server refused. */
export async function severalExportChoices(
  keys: readonly string[],
  onError: (error: unknown) => void,
): Promise<readonly ExportChoice[]> {
  const { writableFormats } = await import('#lib/formats/registry.ts')
  return writableFormats.map(({ name, label, keeps }) => ({
    name,
    label,
    keeps,
    save: () => saveSeveral(keys, name).catch(onError),
  }))
}

async function saveSeveral(keys: readonly string[], format: string): Promise<void> {
  const response = await callApi('/api/export', { method: 'POST', json: { keys, format } })
  const content = await response.blob().catch(() => {
    throw new ApiError(
      response.status,
      'CUT_REPLY',
      'The file broke off before its end.',
      'Nothing was saved. Rollscope’s own server was stopped, or a trajectory was deleted or damaged meanwhile: export again.',
    )
  })
  save(content, severalFileName(keys.length, format))
}

/** Gives the user a file of JSON. */
export const saveText = (text: string, name: string): void => save(new Blob([text], { type: 'application/json' }), name)

function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

export class FileError extends Error {
  override readonly name = 'FileError'
  readonly hint: string
  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}

/**
 * Checks the file here, so that its error can be told at once, and stores it; returns the keys of its trajectories, at
 * least one. Throws FileError and ApiError.
 */
export async function openFile(file: File): Promise<readonly [string, ...string[]]> {
  const { openText } = await import('#lib/formats/open.ts')
  const opened = openText(await file.text(), { file: file.name, now: '', newId: () => 'unnamed' })
  if (!opened.ok) throw new FileError(`${file.name} cannot be opened: ${opened.error.message}`, opened.error.hint)
  const answer: { readonly trajectories: readonly [string, ...string[]] } = await (
    await callApi(`/api/import?name=${encodeURIComponent(file.name)}`, { method: 'POST', file })
  ).json()
  return answer.trajectories
}
