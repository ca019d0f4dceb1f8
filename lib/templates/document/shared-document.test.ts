import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashOfJson, textOfHash } from '#lib/util/link-hash.ts'
import { anyText } from '#testing/strings.ts'
import { applyLabAction, displayedRevision, historyOf, inputOf, type LabDocument } from './document.ts'
import { loadedFrom, readShared, sharedDocument, sharedJson } from './shared-document.ts'
import { isSharedDocument } from './template-files.ts'

const text = anyText({ maxLength: 40 })
const here: LabDocument = {
  revisions: [
    { number: 1, name: 'loaded', kind: 'kept', parent: undefined, template: 'one' },
    { number: 4, name: 'edited', kind: 'draft', parent: 1, template: 'two' },
  ],
  shown: 4,
  messages: '[{"role": "user", "content": 1.0}]',
  tools: '',
  options: '{}',
  tokenizer: 'built-in',
  source: undefined,
  trajectory: 'a trajectory of this library',
}

test('a link or a file opens the document that was shared, letter by letter', async () => {
  const documents = fc.record({ template: text, messages: text, tools: text, options: text, cell: text })
  await fc.assert(
    fc.asyncProperty(documents, async ({ template, messages, tools, options, cell }) => {
      const revisions = [{ number: 7, name: 'mine', kind: 'draft', parent: undefined, template } as const]
      const shared = sharedDocument({
        document: { ...here, revisions, shown: 7, messages, tools, options },
        view: { tab: 'stability', cell },
        against: undefined,
      })
      const json = sharedJson(shared)
      expect(isSharedDocument(json)).toBe(true)
      const linked = await textOfHash((await hashOfJson(json, 'lab')) as string, 'lab')
      for (const brought of [json, linked.kind === 'text' ? linked.text : '']) {
        const read = readShared(brought)
        if (!read.ok) throw new Error(read.why)
        expect(read.shared).toEqual(shared)
        let history = historyOf(here)
        for (const loaded of loadedFrom(read.shared)) history = applyLabAction(history, { type: 'loaded', loaded })
        expect(inputOf(history.now)).toEqual({ template, messages, tools, options })
        expect(history.now.trajectory).toBeUndefined()
      }
    }),
  )
})

test('opening a shared document adds a revision, keeps the others, and can be undone like any other step', () => {
  const shared = sharedDocument({ document: here, view: { tab: 'compare', part: 'tools' }, against: here.revisions[0] })
  const empty = historyOf({
    ...here,
    revisions: [{ number: 1, name: 'my draft', kind: 'draft', parent: undefined, template: 'mine' }],
    shown: 1,
    messages: 'mine',
  })
  let history = empty
  for (const loaded of loadedFrom(shared)) history = applyLabAction(history, { type: 'loaded', loaded })
  expect(history.now.revisions.map(({ name, template }) => [name, template])).toEqual([
    ['my draft', 'mine'],
    ['loaded', 'one'],
    ['edited', 'two'],
  ])
  expect(displayedRevision(history.now).name).toBe('edited')
  for (const _ of loadedFrom(shared)) history = applyLabAction(history, { type: 'undone' })
  expect(history.now).toEqual(empty.now)
})

test('a shared document has no key of a trajectory, no other revisions, and only known fields of the view', () => {
  const shared = sharedDocument({
    document: here,
    view: { tab: 'preview', at: '3', secret: 'x' } as never,
    against: undefined,
  })
  const json = sharedJson(shared)
  expect(json).not.toMatch(/library|"one"|secret/)
  expect(shared.view).toEqual({ tab: 'preview', at: '3' })
})

test.each([
  ['{', /^it is not JSON/],
  ['[]', /^format: expected "rollscope.lab\/1", found nothing/],
  ['{"format": "rollscope.trajectory/1"}', /found "rollscope.trajectory\/1"/],
  ['{"format": "rollscope.lab/2"}', /version 2 was written by a newer Rollscope/],
  ['{"format": "rollscope.lab/1"}', /^revision: expected/],
  [
    '{"format": "rollscope.lab/1", "revision": {"name": "a", "template": 1}, "messages": "", "tools": "", "options": "", "tokenizer": "x"}',
    /^revision.template: expected/,
  ],
  [`{"format": "rollscope.lab/1", "view": ${'['.repeat(50)}${']'.repeat(50)}}`, /nested deeper than 10 levels/],
])('%s is refused as a shared document, with the position of the error', (json, why) => {
  expect(readShared(json)).toEqual({ ok: false, why: expect.stringMatching(why) })
})
