import type { Finish, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { unreachable } from '#lib/util/unreachable.ts'

/** Why a response ended, in a word or two, and with what. */
export function finishText(finish: Finish | undefined, vocab: Vocab): string {
  switch (finish?.kind) {
    case undefined:
      return 'not known'
    case 'stop': {
      const { matched } = finish
      if (typeof matched === 'number') return `stop · ${pieceOf(matched, vocab)}`
      return matched === undefined ? 'stop' : `stop · ${JSON.stringify(matched)}`
    }
    case 'length':
    case 'cancelled':
      return finish.kind
    case 'abort':
      return finish.message === undefined ? 'abort' : `abort · ${finish.message}`
    case 'cut':
      return `cut · ${finish.code}`
    case 'unknown':
      return `unknown · ${finish.raw}`
    default:
      return unreachable(finish)
  }
}

function pieceOf(id: number, vocab: Vocab): string {
  const entry = vocab[id]
  return typeof entry === 'string' ? `${entry} ${id}` : `id ${id}`
}
