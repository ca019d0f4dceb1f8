/** Trajectory files: written from what is on screen, read from what the user chooses or drops. */
import { decode, encode } from '#lib/core/codec.ts'
import { FILE_HINT, fileName } from '#lib/core/file.ts'
import { violationText } from '#lib/core/schema-violation.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { callApi } from './api.ts'

export function saveFile(trajectory: Trajectory): void {
  const address = URL.createObjectURL(new Blob([encode(trajectory)], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = address
  link.download = fileName(trajectory)
  link.click()
  URL.revokeObjectURL(address)
}

export class FileError extends Error {
  override readonly name = 'FileError'
  readonly hint = FILE_HINT
}

/** Checks the file here, so that its error can be told at once, and stores it; returns the key to show it under. */
export async function openFile(file: File): Promise<string> {
  const decoded = decode(await file.text())
  if (!decoded.ok) throw new FileError(`${file.name} is no trajectory file: ${violationText(decoded.error)}`)
  const answer: { readonly trajectories: readonly string[] } = await (
    await callApi(`/api/import?name=${encodeURIComponent(file.name)}`, { method: 'POST', file })
  ).json()
  const [key] = answer.trajectories
  if (key === undefined) throw new FileError(`${file.name} holds no trajectory`)
  return key
}
