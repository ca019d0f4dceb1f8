/** Saves a text or bytes as a file of the user; JSON unless `type` says otherwise. */
export const saveText = (content: string | Uint8Array, name: string, type = 'application/json'): void =>
  saveContent(new Blob([content as BlobPart], { type }), name)

/** Saves content as a file of the user. */
export function saveContent(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
