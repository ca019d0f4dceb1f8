/** A grammar for a text that begins with a call: its opening, its arguments and its closing. The text after the call is free. */

import { elementAt } from '#lib/util/element-at.ts'
import { escapePattern } from '#lib/util/text/escape-pattern.ts'
import type { Grammar, GrammarPart } from './grammar.ts'
import type { CallForm } from './job.ts'

/** The constructors of the parts of a grammar. */
export interface GrammarParts {
  regex(source: string): GrammarPart
  json(schema: string): GrammarPart
  /** Returns the text of ids. */
  text(ids: readonly number[]): string
}

/**
 * Returns the grammar of a text that begins with one of these calls. No token extends over two parts: the text is the same, and the parts
 * are independent.
 */
export function beginningWithCall(forms: readonly CallForm[], { regex, json, text }: GrammarParts): Grammar {
  // All schemas are compiled now, so that an impossible one is refused before the first token.
  const schemas = forms.map(({ schema }) => json(schema))
  let parts: readonly GrammarPart[] = [regex(forms.map(({ begin }) => escapePattern(begin)).join('|'))]
  let hasBegun = false
  const beginning: number[] = []
  /** For each id, whether the first part would take it where the second part may begin as well. */
  let own: readonly boolean[] | undefined

  const chosen = (): readonly GrammarPart[] => {
    const begun = text(beginning)
    const index = forms.findIndex(({ begin }) => begin === begun)
    hasBegun = true
    return [elementAt(schemas, index), regex(escapePattern(elementAt(forms, index).end))]
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
