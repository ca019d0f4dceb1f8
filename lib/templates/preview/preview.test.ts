import { describe, expect, test } from 'vitest'
import { type LabInput, type LabTokenizer, runToEnd } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { compareRevisions } from './compare.ts'
import { prefixMask, preview } from './preview.ts'
import { carriedMask, originOf, templateLineAt, tokenAtOffset, tokensOfTemplateLine } from './render-preview.ts'
import { countTurns, type TurnCounts } from './turns.ts'

const tokenizer: LabTokenizer = { tokenizer: byteTokenizer, compile: (text) => chatTemplate(text, {}) }
const TALK = JSON.stringify([
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Ho' },
])
const PLAIN =
  '{% for m in messages %}{{ m.role }}:{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}'
const lab = (template: string, others: Partial<LabInput> = {}): LabInput => ({
  template,
  messages: TALK,
  tools: '',
  options: '',
  ...others,
})

function rendered(input: LabInput) {
  const result = runToEnd(preview(input, [tokenizer]))
  if (result.kind !== 'rendered') throw new Error(result.error.message)
  return result
}

describe('the preview of a document', () => {
  test('shows the text, its tokens and the roles, and says that the mask needs another task', () => {
    const { renderPreview, leftOut } = rendered(lab(PLAIN))
    expect(renderPreview.text).toBe('user:Hi\nassistant:Ho\n')
    expect(renderPreview.roles).toEqual(['user', 'assistant'])
    expect(renderPreview.mask).toEqual({ kind: 'unknown', why: 'the template has no {% generation %} block' })
    expect(leftOut).toBeUndefined()
  })

  test('has the mask of generation blocks', () => {
    const { renderPreview } = rendered(
      lab(
        "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}",
      ),
    )
    expect(renderPreview.mask).toEqual({ kind: 'known', by: 'generation', trained: Uint8Array.of(0, 0, 1, 1) })
  })

  test('has no mask if the final message is continued', () => {
    const continued = rendered(lab(PLAIN, { options: '{"continue_final_message": true}' }))
    expect(continued.renderPreview.mask.kind).toBe('unknown')
    const asked = runToEnd(prefixMask(lab(PLAIN, { options: '{"continue_final_message": true}' }), [tokenizer]))
    expect(asked).toEqual(continued.renderPreview.mask)
  })

  test.each([
    ['does not compile', lab('{% if %}'), 'template'],
    ['raises an error', lab("{{ raise_exception('no') }}"), 'template'],
    ['has unreadable messages', lab(PLAIN, { messages: '[' }), 'messages'],
  ])('is refused if the document %s', (_, input, where) => {
    expect(runToEnd(preview(input, [tokenizer]))).toMatchObject({ kind: 'refused', error: { where } })
  })

  test('reports the render before it encodes, so that it can be abandoned', () => {
    const steps = preview(lab(PLAIN), [tokenizer])
    expect(steps.next()).toEqual({ done: false, value: 'rendered' })
  })

  test('and its mask need a tokenizer', () => {
    expect(() => preview(lab(PLAIN), []).next()).toThrow('the preview needs a tokenizer')
    expect(() => prefixMask(lab(PLAIN), []).next()).toThrow('a mask needs a tokenizer')
  })

  test('finds the line and the tokens of a position, also after the end', () => {
    const { renderPreview } = rendered(lab('a\n{{ messages[0].content }}'))
    expect(renderPreview.text).toBe('a\nHi')
    expect([0, 2].map((offset) => templateLineAt(renderPreview.origins, offset))).toEqual([1, 2])
    expect([tokenAtOffset(renderPreview, 2), tokenAtOffset(renderPreview, 99)]).toEqual([2, 3])
    expect(tokensOfTemplateLine(renderPreview, 2)).toEqual([{ start: 2, end: 4 }])
    expect(tokensOfTemplateLine(renderPreview, 9)).toEqual([])
    const empty = rendered(lab('{# nothing #}')).renderPreview
    expect(tokenAtOffset(empty, 0)).toBe(0)
    expect(originOf(empty, 0)).toBeUndefined()
    expect(carriedMask(renderPreview, renderPreview.ids)).toEqual(renderPreview.mask)
  })
})

describe('the mask by prefixes', () => {
  const mask = (input: LabInput) => runToEnd(prefixMask(input, [tokenizer]))

  test('trains what each reply adds to the render before it', () => {
    const known = mask(lab(PLAIN))
    if (known.kind !== 'known') throw new Error(known.why)
    const { text } = rendered(lab(PLAIN)).renderPreview
    const trained = [...text].filter((_, index) => known.trained[index] === 1).join('')
    expect(trained).toBe('Ho\n')
    expect(known).not.toHaveProperty('broken')
  })

  test('counts the messages at which a reply begins differently than its generation prompt', () => {
    const thinking = PLAIN.replace('assistant:{% endif %}', 'assistant:<think>{% endif %}')
    const messages = JSON.stringify([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'A long reply without thinking' },
    ])
    expect(mask(lab(thinking, { messages }))).toMatchObject({ kind: 'known', by: 'prefix', broken: 1 })
  })

  test.each([
    ['the conversation cannot be read', lab(PLAIN, { messages: '{}' })],
    ['the template does not compile', lab('{% if %}')],
    ['the conversation does not render', lab("{{ raise_exception('no') }}")],
    ['the conversation has no reply', lab(PLAIN, { messages: '[{"role": "user", "content": "Hi"}]' })],
    [
      'the replies, rendered one by one, do not add up to the whole (see the mask doctor)',
      lab('{% for m in messages %}{% if not loop.last %}!{% endif %}{{ m.content }}{% endfor %}', {
        messages: JSON.stringify([
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
          { role: 'user', content: 'c' },
          { role: 'assistant', content: 'd' },
        ]),
      }),
    ],
  ])('is unknown because %s', (why, input) => {
    expect(mask(input)).toEqual({ kind: 'unknown', why })
  })
})

describe('the calls of a repeated conversation', () => {
  const counted = (template: string, messages: readonly object[]): TurnCounts =>
    runToEnd(
      countTurns(
        template,
        { messages: messages as never, tools: undefined, addGenerationPrompt: true, options: {} },
        3,
        tokenizer,
      ),
    )
  const talk = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Ho' },
  ]

  test('are refused with the error of a template that does not compile', () => {
    expect(counted('{% if %}', talk)).toMatchObject({ kind: 'refused', turns: [], error: { where: 'template' } })
  })

  test('are counted until the template refuses a prompt', () => {
    const once = "{% if messages | length > 2 %}{{ raise_exception('too long') }}{% endif %}"
    expect(counted(`${once}${PLAIN}`, talk)).toMatchObject({
      kind: 'refused',
      turns: [{}],
      error: { message: 'too long' },
    })
  })

  test('are refused if the template does not write a reply', () => {
    const silent = "{% if messages[-1].role == 'assistant' %}{{ raise_exception('no replies') }}{% endif %}"
    expect(counted(`${silent}${PLAIN}`, talk)).toMatchObject({
      kind: 'refused',
      turns: [],
      error: { message: 'no replies' },
    })
  })

  test('are none without a reply', () => {
    expect(counted(PLAIN, talk.slice(0, 1))).toMatchObject({ kind: 'none' })
  })
})

describe('a comparison of two templates', () => {
  test('needs a tokenizer', () => {
    expect(() => compareRevisions({ input: lab(PLAIN), against: PLAIN, turns: 1 }, []).next()).toThrow(
      'a comparison needs a tokenizer',
    )
  })

  test('counts the characters that only one side trains', () => {
    const trains = (role: string) =>
      `{% for m in messages %}{% if m.role == '${role}' %}{% generation %}{{ m.content }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}`
    const { differences } = runToEnd(
      compareRevisions({ input: lab(trains('assistant')), against: trains('user'), turns: 1 }, [tokenizer]),
    )
    expect(differences?.isSameText).toBe(true)
    expect(differences?.mask).toEqual({ compared: 4, onlyLeft: 2, onlyRight: 2 })
  })

  test('has no differences of masks if a side has no mask', () => {
    const silent = lab(PLAIN, { messages: '[{"role": "user", "content": "Hi"}]' })
    const { sides, differences } = runToEnd(compareRevisions({ input: silent, against: PLAIN, turns: 1 }, [tokenizer]))
    expect(differences?.mask).toBeUndefined()
    expect(sides).toMatchObject([{ trained: undefined }, { trained: undefined }])
  })
})
