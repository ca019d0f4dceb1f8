/** Texts of a grammar, for tests. */
import fc from 'fast-check'
import type { GrammarExpression } from './expression.ts'

/** Most parts of a repetition without an own limit. */
const MOST = 3

/** Returns texts that belong to a grammar. Rules contain rules up to `depth` levels. */
export function grammarTexts(root: GrammarExpression, depth: number): fc.Arbitrary<string> {
  const texts = arbitraryOf(root, depth)
  if (!texts) throw new Error('the grammar has no text')
  return texts
}

function arbitraryOf(one: GrammarExpression, depth: number): fc.Arbitrary<string> | undefined {
  switch (one.kind) {
    case 'text':
      return fc.constant(one.text)
    case 'characters': {
      const isInside = (character: string) =>
        one.ranges.some(([first, last]) => first <= character && character <= last)
      const allowed = CHARACTERS.filter((character) => isInside(character) !== one.isNegated)
      const own = one.isNegated ? [] : one.ranges.flat()
      return fc.constantFrom(...allowed, ...own)
    }
    case 'sequence': {
      const parts = one.parts.map((part) => arbitraryOf(part, depth))
      if (!parts.every((part) => part !== undefined)) return undefined
      return fc.tuple(...parts).map((texts) => texts.join(''))
    }
    case 'choice': {
      const options = one.options.flatMap((option) => arbitraryOf(option, depth) ?? [])
      return options.length > 0 ? fc.oneof(...options) : undefined
    }
    case 'repeat': {
      const of = arbitraryOf(one.of, depth)
      if (!of) return one.least === 0 ? fc.constant('') : undefined
      const maxLength = Math.min(one.most, one.least + MOST)
      return fc.array(of, { minLength: one.least, maxLength }).map((texts) => texts.join(''))
    }
    case 'rule':
      if (!one.mayRecur) return arbitraryOf(one.of(), depth)
      return depth === 0 ? undefined : arbitraryOf(one.of(), depth - 1)
  }
}

/** Characters that formats give a meaning, and some others. */
const CHARACTERS = Array.from('aZ09_ \n\t"\'\\/<>|&[](){}:,.-+eé日🙂`#=｜')
