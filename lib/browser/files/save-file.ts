/** Saves JSON as a file of the user. */
export const saveText = (text: string, name: string): void =>
  saveContent(new Blob([text], { type: 'application/json' }), name)

/** Saves content as a file of the user. */
export function saveContent(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
