/** A text that begins with a call: how it is opened, its arguments, how it is closed. What follows is free. */

import { elementAt } from '#lib/util/element-at.ts'
import type { Grammar, Part } from './grammar.ts'
import type { CallForm } from './job.ts'

/** What the grammar is put together from. */
export interface Parts {
  regex(source: string): Part
  json(schema: string): Part
  /** Of ids. */
  text(ids: readonly number[]): string
}

/** No token reaches from one part into the next: the text is the same, and the parts need not know of each other. */
export function beginningWithCall(forms: readonly CallForm[], { regex, json, text }: Parts): Grammar {
  // All at once: a schema that cannot be is refused before there is a token.
  const schemas = forms.map(({ schema }) => json(schema))
  let parts: readonly Part[] = [regex(forms.map(({ begin }) => escaped(begin)).join('|'))]
  let hasBegun = false
  const beginning: number[] = []
  /** Ids that the first part would take where the second may follow as well. */
  let own: readonly boolean[] | undefined

  const chosen = (): readonly Part[] => {
    const begun = text(beginning)
    const index = forms.findIndex(({ begin }) => begin === begun)
    hasBegun = true
    return [elementAt(schemas, index), regex(escaped(elementAt(forms, index).end))]
  }

  const mask: Grammar['mask'] = (logits) => {
    const [part, following] = parts
    if (!part) return 'open'
    const { marks, isComplete } = part.next()
    if (isComplete && !following) {
      parts = hasBegun ? [] : chosen()
      return mask(logits)
    }
    own = isComplete ? Array.from(logits, (_, id) => marks[id] === 0) : undefined
    const next = isComplete && following ? following.next().marks : marks
    for (let id = 0; id < logits.length; id++) if (next[id] !== 0 && !own?.[id]) logits[id] = Number.NEGATIVE_INFINITY
    return 'open'
  }

  return {
    mask,
    take(id) {
      if (own && !own[id]) parts = parts.slice(1)
      parts[0]?.take(id)
      if (!hasBegun) beginning.push(id)
    },
    isBinding: () => true,
  }
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
