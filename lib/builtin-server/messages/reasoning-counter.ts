/** Counts the tokens of a reply up to the one that closes its reasoning; all where none does. */
export function reasoningCounter(
  addedTokens: readonly { readonly content: string; readonly id: number }[],
): (ids: readonly number[]) => number {
  const close = addedTokens.find(({ content }) => content === '</think>')?.id
  let count = 0
  let isClosed = false
  return (ids) => {
    for (const id of ids) {
      if (isClosed) break
      count++
      isClosed = id === close
    }
    return count
  }
}
