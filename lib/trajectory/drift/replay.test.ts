import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CallToReplay, startReplay } from './replay.ts'

/** Parses `prompt>sampled prompt>sampled` with one letter for each token. */
const callsOf = (text: string): readonly CallToReplay[] =>
  text.split(' ').map((call) => {
    const [prompt = [], sampled = []] = call.split('>').map((part) => [...part].map((letter) => letter.charCodeAt(0)))
    return { prompt, sampled }
  })

function costsOf(calls: readonly CallToReplay[]) {
  const replay = startReplay()
  for (const call of calls) replay.add(call)
  return replay.costs()
}

const costsText = (text: string): string => {
  const { prefix, rows, calls } = costsOf(callsOf(text))
  const steps = calls.flatMap(({ cached }) => cached?.step ?? []).join(' ')
  return `kept ${prefix.kept} lost ${prefix.lost}, rows ${rows.count} extra ${rows.extra} realigned ${rows.realigned}: ${steps}`
}

describe('startReplay', () => {
  test('keeps the cache and one row for prompts that only grow', () => {
    expect(costsText('ab>cd abcdef>g abcdefgh>i')).toBe('kept 11 lost 0, rows 1 extra 0 realigned 0: append append')
  })

  test('finds no cache for the first call', () => {
    expect(costsText('ab>cd')).toBe('kept 0 lost 0, rows 1 extra 0 realigned 0: ')
    expect(costsOf([])).toEqual({
      prefix: { kept: 0, lost: 0 },
      rows: { count: 1, extra: 0, realigned: 0 },
      calls: [],
    })
  })

  test('realigns a row if only the last reply differs', () => {
    expect(costsText('ab>cde abcx>g')).toBe('kept 3 lost 2, rows 1 extra 0 realigned 2: realign')
  })

  test('forks a row if tokens before the last reply differ', () => {
    expect(costsText('ab>cd abcde>f abxde>g')).toBe('kept 6 lost 4, rows 2 extra 6 realigned 0: append fork')
    expect(costsText('ab>cd axcd>f')).toBe('kept 1 lost 3, rows 2 extra 4 realigned 0: fork')
  })

  test('compares each prompt only with the call before, as a row does', () => {
    expect(costsText('ab>cd ax>c ab>cd')).toBe('kept 2 lost 5, rows 3 extra 7 realigned 0: fork fork')
  })

  test('does not count a row without trained tokens', () => {
    expect(costsText('ab> cd>e')).toBe('kept 0 lost 2, rows 1 extra 0 realigned 0: fork')
    expect(costsText('ab>c ab>')).toBe('kept 2 lost 1, rows 1 extra 0 realigned 1: realign')
  })

  test('forks a row if 1,024 tokens or more of the last reply differ', () => {
    const reply = (length: number) => [
      { prompt: [1], sampled: Array.from({ length }, () => 2) },
      { prompt: [1, 3], sampled: [4] },
    ]
    expect(costsOf(reply(1023)).rows).toEqual({ count: 1, extra: 0, realigned: 1023 })
    expect(costsOf(reply(1024)).rows).toEqual({ count: 2, extra: 1025, realigned: 0 })
  })
})

/** Builds rows token by token with a mask. */
function rowsHeld(
  calls: readonly CallToReplay[],
): readonly { readonly tokens: readonly number[]; readonly mask: number }[] {
  const rows: { tokens: number[]; mask: boolean[]; reply: number }[] = []
  for (const { prompt, sampled } of calls) {
    let row = rows.at(-1)
    let same = 0
    while (row && same < row.tokens.length && row.tokens[same] === prompt[same]) same++
    if (!row || (same < row.tokens.length && same < row.reply)) {
      row = { tokens: [], mask: [], reply: 0 }
      rows.push(row)
      same = 0
    }
    row.tokens.splice(same, row.tokens.length, ...Array.from(prompt).slice(same))
    row.mask.splice(same, row.mask.length, ...row.tokens.slice(same).map(() => false))
    row.reply = row.tokens.length
    row.tokens.push(...Array.from(sampled))
    row.mask.push(...Array.from(sampled, () => true))
  }
  return rows.map(({ tokens, mask }) => ({ tokens, mask: mask.filter(Boolean).length }))
}

test('counts the rows of a token-by-token builder, and every cached token as kept or lost', () => {
  const part = fc.array(fc.constantFrom(1, 2), { maxLength: 3 })
  // A prompt is usually the tokens before, cut and continued.
  const call = fc.record({ cut: fc.nat({ max: 4 }), added: part, sampled: part })
  fc.assert(
    fc.property(fc.array(call, { maxLength: 6 }), (made) => {
      const calls: CallToReplay[] = []
      let before: readonly number[] = []
      for (const { cut, added, sampled } of made) {
        const prompt = [...before.slice(0, Math.max(0, before.length - cut)), ...added]
        calls.push({ prompt, sampled })
        before = [...prompt, ...sampled]
      }
      const { prefix, rows, calls: replayed } = costsOf(calls)
      const held = rowsHeld(calls).filter(({ mask }) => mask > 0)
      expect(rows.count).toBe(Math.max(1, held.length))
      expect(rows.extra).toBe(held.slice(0, -1).reduce((sum, { tokens }) => sum + tokens.length, 0))
      const earlier = calls.slice(0, -1).reduce((sum, { prompt, sampled }) => sum + prompt.length + sampled.length, 0)
      expect(prefix.kept + prefix.lost).toBe(earlier)
      const all = calls.reduce((sum, { sampled }) => sum + sampled.length, 0)
      expect(held.reduce((sum, { mask }) => sum + mask, 0)).toBe(all - rows.realigned)
      expect(replayed.map(({ tokens }) => tokens)).toEqual(calls.map(({ prompt }) => prompt.length))
    }),
  )
})
