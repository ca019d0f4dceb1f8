import { describe, expect, test } from 'vitest'
import { compareTrajectories } from '../compare.ts'
import { drifts, side } from './test-sides.ts'

const PROMPT = 'P <s>|user|¶|hi|<e>|¶|<s>|assistant|¶'
const both = (left: string, right: string) => drifts(side(left), side(right))
const replies = (left: string, right: string) => both(`${PROMPT} R ${left}`, `${PROMPT} R ${right}`)
const causes = (left: string, right: string) => {
  const { report } = compareTrajectories(side(`${PROMPT} R ${left}`), side(`${PROMPT} R ${right}`))
  return report.spans.map(({ cause }) => cause)
}

describe('drift of equal bytes', () => {
  test('is merged, split or cut elsewhere, as seen from the left', () => {
    expect(replies('a|b|c|<e>', 'ab|c|<e>')).toEqual(['split merge: ab → ab'])
    expect(replies('ab|c|<e>', 'a|b|c|<e>')).toEqual(['split split: ab → ab'])
    expect(replies('ab|c|<e>', 'a|bc|<e>')).toEqual(['split shift: abc → abc'])
  })

  test('with different tokenizers is named as such', () => {
    const { report } = compareTrajectories(
      side('R ab|c', { fingerprint: 'one' }),
      side('R a|b|c', { fingerprint: 'two' }),
    )
    expect(report.spans.map(({ cause }) => cause)).toEqual([
      'A different tokenizer splits this text 1 token → 2 tokens.',
    ])
    expect(report.sameVocabulary).toBe(false)
  })

  test('with a special token on one side names the side that spells it', () => {
    expect(replies('a|<x>|b', 'a|<|x|>|b')).toEqual(['special-tokens spelled: <x> → <x>'])
    expect(replies('a|<|x|>|b', 'a|<x>|b')).toEqual(['special-tokens spelled: <x> → <x>'])
  })

  test('is unknown for ids without a text and for tokens that spell nothing', () => {
    const lacks = ['q', 'r']
    expect(drifts(side('R a|q|b', { lacks }), side('R a|r|b', { lacks }))).toEqual([
      expect.stringMatching(/^unknown: ⟨/),
    ])
    expect(drifts(side('R a|%|b'), side('R a|b'))).toEqual(['unknown:  → '])
  })
})

describe('drift of characters', () => {
  test('in a different Unicode form is normalisation', () => {
    expect(replies('caf|é|!', 'caf|e\u0301|!')).toEqual(['normalisation NFD: é → e\u0301'])
    expect(replies('caf|e\u0301|!', 'caf|é|!')).toEqual(['normalisation NFC: e\u0301 → é'])
    expect(replies('ﬁ|x', 'fi|x')).toEqual(['normalisation NFKC: ﬁ → fi'])
    expect(replies('fi|x', 'ﬁ|x')).toEqual(['normalisation NFKC: fi → ﬁ'])
    expect(replies('é|e\u0301|x', 'e\u0301é|x')).toEqual(['normalisation NFC: ée\u0301 → e\u0301é'])
    expect(replies('é\ufffd|x', 'e\u0301\ufffd|x')).toEqual(['content: é\ufffd → e\u0301\ufffd'])
  })

  test('inside of a character is partial UTF-8', () => {
    expect(replies('a|%e697|b', 'a|\ufffd|b')).toEqual(['partial-utf8: \ufffd → \ufffd'])
    expect(replies('a|\ufffd|b', 'a|%e697|b')).toEqual(['partial-utf8: \ufffd → \ufffd'])
    expect(replies('a|%e697|b', 'a|\ufffd\ufffd|b')).toEqual(['partial-utf8: \ufffd → \ufffd\ufffd'])
    expect(replies('a|%e697|%e6|b', 'a|%e697|%e5|b')).toEqual(['partial-utf8: \ufffd → \ufffd'])
    expect(replies('a|%e6|%97|b', 'a|%e6|%98|b')).toEqual(['partial-utf8: \ufffd → \ufffd'])
    expect(replies('a|%e6|%97a5|b', 'a|%e5|%97a5|b')).toEqual(['content: \ufffd → \ufffd'])
    expect(replies('%97|b', '%98|b')).toEqual(['partial-utf8: \ufffd → \ufffd'])
  })
})

describe('drift at the end of a turn', () => {
  test('is a missing, a doubled or a different token', () => {
    expect(replies('a|<e> P ¶|b', 'a P ¶|b')).toEqual(['end-of-turn missing: <e> → '])
    expect(replies('a P ¶|b', 'a|<e> P ¶|b')).toEqual(['end-of-turn missing:  → <e>'])
    expect(replies('a|<e> P ¶|b', 'a|<e>|<e> P ¶|b')).toEqual(['end-of-turn doubled:  → <e>'])
    expect(replies('a|<e>|¶|<e> P b', 'a|<e>|¶ P b')).toEqual(['end-of-turn doubled: <e> → '])
    expect(replies('a|<e> P ¶|b', 'a|<|endoftext|> P ¶|b'.replace('<|endoftext|>', '</s>'))).toEqual([
      'end-of-turn alias: <e> → </s>',
    ])
    expect(replies('a|<x> P ¶|b', 'a|<e> P ¶|b')).toEqual(['end-of-turn alias: <x> → <e>'])
  })
})

describe('drift of thinking', () => {
  const THOUGHT = '<think>|¶|so|¶|</think>|¶¶'

  test('is dropped, emptied or inserted', () => {
    expect(replies(`${THOUGHT}|a|<e>`, 'a|<e>')).toEqual(['think-stripped: <think>¶so¶</think>¶¶ → '])
    expect(replies(`${THOUGHT}|a|<e>`, '<think>|¶¶|</think>|¶¶|a|<e>')).toEqual(['think-stripped: ¶so¶ → ¶¶'])
    expect(replies('a|<e>', '<think>|¶¶|</think>|¶¶|a|<e>')).toEqual(['think-inserted:  → <think>¶¶</think>¶¶'])
    expect(replies('<think>|¶¶|</think>|¶¶|a|<e>', 'a|<e>')).toEqual(['think-stripped: <think>¶¶</think>¶¶ → '])
    expect(replies('a|<e>', `${THOUGHT}|a|<e>`)).toEqual(['think-inserted:  → <think>¶so¶</think>¶¶'])
    expect(causes('a|<e>', `${THOUGHT}|a|<e>`)[0]).toMatch(/right only/)
    expect(causes('<think>|¶¶|</think>|¶¶|a|<e>', 'a|<e>')[0]).toMatch(/^An empty/)
    expect(causes(`${THOUGHT}|a|<e>`, '<think>|¶¶|</think>|¶¶|a|<e>')[0]).toMatch(/emptied/)
  })

  test('is recognised by its delimiters if no spans are known', () => {
    expect(drifts(side(`R ${THOUGHT}|a`, { unread: true }), side('R a'))).toEqual([
      'think-stripped: <think>¶so¶</think>¶¶ → ',
    ])
  })

  test('is content if only a part of the block is missing', () => {
    expect(replies('<think>|x|y|z|</think>|a', '<think>|x|z|</think>|a')).toEqual(['content: y → '])
    const long = Array.from({ length: 30 }, (_, index) => `w${index}`).join('|')
    expect(replies(`<think>|${long}|x|</think>|a`, `<think>|${long}|</think>|a`)).toEqual(['content: x → '])
    expect(replies('<think>|x|</think>|a', '<think>|y|</think>|a')).toEqual(['content: x → y'])
  })

  test('is recognised if the block was not closed', () => {
    expect(both('R a|<e> P x R <think>|so|on', 'R a|<e> P x R')).toEqual(['think-stripped: <think>soon → '])
  })

  test('is recognised if the prompt opened the block', () => {
    const opened = 'P <s>|<think>|¶ R so|</think>|¶|a|<e>'
    expect(
      drifts(
        {
          ...side(opened),
          segments: side(opened).segments.map((segment) =>
            segment.kind === 'response' ? { ...segment, thinks: [{ start: 0, end: 2, closed: true }] } : segment,
          ),
        },
        side('P <s>|<think>|¶ R a|<e>'),
      ),
    ).toEqual(['think-stripped: so</think>¶ → '])
  })
})

describe('drift of a call', () => {
  const CALL = '<c>|{"name":|_"f",|_"arguments":|_{"a":|_1}}|</c>'

  test('is reserialised if only its writing differs', () => {
    expect(replies(`${CALL}|<e>`, '<c>|{"name":|"f",|"arguments":|{"a":|1}}|</c>|<e>')).toEqual([
      'call-json spacing:  "f", "arguments": {"a": 1}} → "f","arguments":{"a":1}}',
    ])
  })

  test('lists the further differences in writing', () => {
    const [cause] = causes(`${CALL}|<e>`, '<c>|{"name":|"f",|_"arguments":|_{"a":|_1.0}}|</c>|<e>')
    expect(cause).toMatch(/white space.*; in this call also: numbers\.$/)
  })

  test('inside of one token names the most informative difference', () => {
    const [spaced, compact] = ['<c>|{"name":_"f","a":1.0,_"b":2}|</c>', '<c>|{"name":"f","a":1,"b":2}|</c>']
    expect(replies(spaced, compact)).toEqual([
      'call-json numbers: {"name": "f","a":1.0, "b":2} → {"name":"f","a":1,"b":2}',
    ])
  })

  test('names the differences of the whole call if the position has none of its own', () => {
    expect(replies('<c>|[1,|_2]|</c>', '<c>|[1|,_2]|</c>')).toEqual(['split shift: [1, 2] → [1, 2]'])
  })

  test('with differences everywhere names them where the position has none', () => {
    const keys = Array.from({ length: 40 }, (_, index) => `"k${index}":|_1,`)
    const call = (spaced: readonly string[], last: string) => `<c>|{|${[...spaced, last].join('|')}|}|</c>|<e>`
    const compact = keys.map((key) => key.replace('_', ''))
    expect(
      replies(
        call(keys, '"w":|"the",|"same":|"here",|"y":1,|"z":1'),
        call(compact, '"w":|"the",|"same":|"here",|"z":1,|"y":1'),
      ).at(-1),
    ).toMatch(/^call-json key-order: /)
  })

  test('is changed, dropped or moved', () => {
    expect(replies(`a|¶|${CALL}|<e>`, 'a|¶|<c>|{"name":|_"f",|_"arguments":|_{"a":|_2}}|</c>|<e>')).toEqual([
      'call-rewritten changed:  1}} →  2}}',
    ])
    expect(replies(`a|¶|${CALL}|<e>`, 'a|¶|<e>')).toEqual([expect.stringMatching(/^call-rewritten dropped: <c>/)])
    expect(replies('a|¶|<e>', `a|¶|${CALL}|<e>`)).toEqual([expect.stringMatching(/^call-rewritten dropped: {2}→ <c>/)])
    expect(
      replies(
        `what|_is|_so|_much|_longer|_than|_the|_call|_is|_what|_stays|_where|_it|_was|_before|,|_and|_the|_call|_moves|¶|to|_the|_other|_side|_of|_it|.|¶|<c>|{"name":"f"}|</c>|<e>`,
        `<c>|{"name":"f"}|</c>|what|_is|_so|_much|_longer|_than|_the|_call|_is|_what|_stays|_where|_it|_was|_before|,|_and|_the|_call|_moves|¶|to|_the|_other|_side|_of|_it|.|¶|<e>`,
      ),
    ).toEqual(['call-rewritten moved:  → <c>{"name":"f"}</c>', 'call-rewritten moved: <c>{"name":"f"}</c> → '])
    expect(
      replies(`aa|¶|${CALL}|¶|${CALL.replace('1', '2')}|<e>`, `${CALL}|¶|${CALL.replace('1', '2')}|aa|¶|<e>`),
    ).toEqual(['call-rewritten moved: aa¶ → ', 'call-rewritten moved:  → aa¶'])
  })

  test('in a different format lists the differences of equal arguments', () => {
    const name = '{"name":|"call_f",|'
    expect(
      replies(`<c>|${name}|"arguments":|{"aaaa":|_1|}}|</c>|<e>`, `${name}|"parameters":|{"aaaa":|_1.0|}}|<e>`),
    ).toEqual([
      'call-rewritten format: <c> → ',
      'call-rewritten format: "arguments": → "parameters":',
      'call-json numbers:  1 →  1.0',
      'call-rewritten format: </c> → ',
    ])
    expect(
      replies(
        `<c>|${name}|"arguments":|{"aaaa":|_1|}}|</c>|<e>`,
        `{"function":|${name}|"arguments":|{"aaaa":|_1|}}|}|<e>`,
      ),
    ).toEqual(['call-rewritten format: <c> → {"function":', 'call-rewritten format: </c> → }'])
  })

  test('that cannot be parsed is dropped or replaced by text', () => {
    expect(causes('a|<c>|{broken|</c>|<e>', 'a|<e>')).toEqual([
      'The call could not be parsed (no JSON), and the parser dropped its text.',
    ])
    expect(causes('a|<c>|{broken|</c>|<e>', 'a|<c>|{broken|!|</c>|<e>')).toEqual([
      expect.stringMatching(/different text in its place/),
    ])
  })

  test('between two sampled runs is content', () => {
    const sampled = { sampled: true }
    expect(
      drifts(side(`R ${CALL}|<e>`, sampled), side('R <c>|{"name":|_"g"}|</c>|<e>', sampled)).every((each) =>
        each.startsWith('content'),
      ),
    ).toBe(true)
  })

  test('inside of another call is a part of that call', () => {
    const outer = side('R a|<c>|{"name":|_"f"}|</c>|<e>')
    const calls = outer.segments.flatMap((segment) => (segment.kind === 'response' ? segment.toolCalls : []))
    const nested = calls.flatMap((call) => [
      { ...call, span: { start: 1, end: 3 } },
      call,
      { ...call, span: { start: 2, end: 3 } },
      { ...call, span: { start: 2, end: 2 } },
    ])
    const segments = outer.segments.map((segment) => ({ ...segment, toolCalls: nested }) as typeof segment)
    expect(drifts({ ...outer, segments }, side('R a|<c>|{"name":|"f"}|</c>|<e>'))).toEqual([
      'call-json spacing:  "f"} → "f"}',
    ])
  })

  test('in place of other words belongs to those words', () => {
    expect(replies('a|<c>|{"name":"f"}|</c>|b', 'a|word|b')).toEqual([
      'call-rewritten changed: <c>{"name":"f"}</c> → word',
    ])
    expect(replies('a|word|b', 'a|<c>|{"name":"f"}|</c>|b')).toEqual(['content: word → <c>{"name":"f"}</c>'])
  })

  test('at its outer white space is a separator', () => {
    expect(replies('a|(call|{"name":"f"}|call)|b', 'a|_(call|{"name":"f"}|call)|b')).toEqual([
      'separator: (call →  (call',
    ])
    expect(replies('a|_(call|{"name":"f"}|call)|b', 'a|(call|{"name":"f"}|call)|b')).toEqual([
      'separator:  (call → (call',
    ])
    expect(replies('a|(call|{"name":"f"}|call)|b', 'a|(call|{"name":"f"}|call)_|b')).toEqual([
      'separator: call) → call) ',
    ])
    expect(drifts(side('R a|call)', { unread: true }), side('R a|call)_'))).toEqual(['separator: call) → call) '])
  })
})

describe('drift of white space', () => {
  test('at an edge is a separator, inside of a text it is content', () => {
    expect(replies('a|¶|<e>', 'a|<e>')).toEqual(['separator: ¶ → '])
    expect(replies('a|.¶|<e>', 'a|.|<e>')).toEqual(['separator: .¶ → .'])
    expect(replies('a|¶|¶|b|<e>', 'a|¶|b|<e>')).toEqual(['content: ¶ → '])
    expect(replies('¶|a|<e>', 'a|<e>')).toEqual(['separator: ¶ → '])
    expect(replies('<think>|x|</think>|¶|¶|a', '<think>|x|</think>|¶|a')).toEqual(['separator: ¶ → '])
    expect(both('R a|b|_|¶', 'R a|b|_')).toEqual(['separator: ¶ → '])
    expect(both('R a|\f|<e>', 'R a|<e>')).toEqual(['separator: \f → '])
    expect(both('P x|<s>|_a', 'P x|<s>|a')).toEqual(['separator:  a → a'])
    expect(both('R a|b_|_|c', 'R a|b|_|c')).toEqual(['content: b  → b'])
  })
})

describe('drift of special tokens', () => {
  test('is named at the beginning of the text', () => {
    expect(both('P <b>|hi', 'P hi')).toEqual(['special-tokens bos: <b> → '])
    expect(both('P <b>|hi', 'P <b>|<b>|hi')).toEqual(['special-tokens bos:  → <b>'])
    expect(both('P <b>|hi', 'P <d>|hi')).toEqual(['special-tokens bos: <b> → <d>'])
  })

  test('is named in a turn header', () => {
    expect(both('P a|<e>|<s>|user|¶|hi', 'P a|<e>|<s>|human|¶|hi')).toEqual(['special-tokens header: user → human'])
    expect(both('P a|<e>|<s>|user|<m>|hi', 'P a|<e>|<s>|human|<m>|hi')).toEqual(['special-tokens header: user → human'])
    expect(both('P a|<e>|<s>|user|¶|hi', 'P a|<e>|<u>|¶|hi')).toEqual(['special-tokens header: <s>user → <u>'])
    expect(both('P a|a|a|<m>|hi', 'P a|a|a|<n>|hi')).toEqual(['special-tokens other: <m> → <n>'])
    expect(both('P a|a|a|hi', 'P a|a|a|<n>|hi')).toEqual(['special-tokens other:  → <n>'])
  })

  test('is not a header for words after the end of a turn, inside of a call or before a word', () => {
    expect(both('P a|<e>|user|¶|hi', 'P a|<e>|human|¶|hi')).toEqual(['content: user → human'])
    expect(both('P a|<e>|<s>|word|¶|hi', 'P a|<e>|<s>|other|¶|hi')).toEqual(['content: word → other'])
    expect(both('P a|<s>|user|hi', 'P a|<s>|human|hi')).toEqual(['content: user → human'])
    expect(both('P user|¶|hi', 'P human|¶|hi')).toEqual(['content: user → human'])
    expect(replies('<think>|x|y|¶|z|</think>', '<think>|w|y|¶|z|</think>')).toEqual(['content: x → w'])
    expect(replies('<c>|f|¶|</c>', '<c>|g|¶|</c>')).toEqual(['call-rewritten changed: f → g'])
  })

  test('is named for the header of the next reply at the end', () => {
    expect(both('R a|<e>', 'R a|<e> P ¶|<s>|assistant|¶')).toEqual([
      'special-tokens generation-prompt:  → ¶<s>assistant¶',
    ])
    expect(both('R a|<e> P <s>|assistant|¶', 'R a|<e>')).toEqual(['special-tokens generation-prompt: <s>assistant¶ → '])
  })
})

describe('drift of the context', () => {
  const messages = [
    { role: 'system' as const, content: 'be kind' },
    { role: 'user' as const, content: 'hi there' },
  ]
  const prompt = (system: string, settings = {}) =>
    side(`P <s>|system|¶|be|_${system}|<e>|<s>|user|¶|hi|_there|<e> R a`, { messages, ...settings })

  test('covers everything before the first message that is not a system prompt', () => {
    expect(drifts(prompt('kind'), prompt('brief'))).toEqual(['context-changed:  kind →  brief'])
    const tools = [{ name: 'f', inputSchema: {} }]
    const { report } = compareTrajectories(prompt('kind'), prompt('brief', { tools }))
    expect(report.spans[0]?.cause).toBe('The two sides have different tools.')
  })

  test('ends with the first segment that answers, or nowhere', () => {
    const system = [messages[0] as (typeof messages)[0]]
    expect(
      drifts(side('P be|_kind|¶ R a|b', { messages: system }), side('P be|_brief|¶ R a|c', { messages: system })),
    ).toEqual(['context-changed:  kind →  brief', 'content: b → c'])
    expect(drifts(side('P be|_kind|¶', { messages: system }), side('P be|_brief|¶', { messages: system }))).toEqual([
      'context-changed:  kind →  brief',
    ])
    const lost = [...system, { role: 'user' as const, content: 'not there' }]
    expect(drifts(side('P be|_kind|¶', { messages: lost }), side('P be|_brief|¶', { messages: lost }))).toEqual([
      'content:  kind →  brief',
    ])
  })
})

describe('remaining drift', () => {
  test('is a truncation if one side ends', () => {
    expect(both('R a|b|c|<e>', 'R a')).toEqual(['truncation: bc<e> → '])
    expect(both('R a', 'R a|b|c|<e>')).toEqual(['truncation:  → bc<e>'])
    expect(both('R a|bcd', 'R a|bc')).toEqual(['truncation: bcd → bc'])
    expect(both('R a|b', 'R')).toEqual(['truncation: ab → '])
  })

  test('is not a truncation if only a think block or a call is missing at the end', () => {
    expect(both('R a|<c>|{"name":"f"}|</c>', 'R a')).toEqual(['call-rewritten dropped: <c>{"name":"f"}</c> → '])
  })

  test('is content if the text differs', () => {
    expect(replies('a|b|c|<e>', 'a|x|c|<e>')).toEqual(['content: b → x'])
    expect(replies('a|b|c|<e>', 'a|c|<e>')).toEqual(['content: b → '])
    expect(causes('a|b|c|<e>', 'a|c|<e>')).toEqual([expect.stringMatching(/on the left only/)])
    expect(causes('a|c|<e>', 'a|b|c|<e>')).toEqual([expect.stringMatching(/on the right only/)])
    expect(compareTrajectories(side('P a|b|c'), side('P a|c')).report.spans[0]?.cause).toMatch(/a message, or a part/)
  })
})
