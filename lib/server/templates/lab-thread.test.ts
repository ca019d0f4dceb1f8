/** Tests the real thread that renders and encodes, and the work that stays on the thread that serves requests. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { BUILT_IN } from '#lib/api/server-name.ts'
import { MODEL_FOLDER } from '#lib/builtin-server/test-model.ts'
import { parserNames } from '#lib/parsers/registry.ts'
import { firstPrompt } from '#lib/rollout/prompt/prompt.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import type { LabWork } from './lab-answers.ts'
import { createLabThread, type LabThread, labAnswer } from './lab-thread.ts'
import { createThreadedTokenizers, isQuickText } from './threaded-tokenizer.ts'

const folder = folderOfFile()
const places = {
  builtIn: { [BUILT_IN]: MODEL_FOLDER },
  folders: [],
  hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: folder },
}
const never = new AbortController().signal
const threadOf = (longestMs: number) =>
  createLabThread({
    name: 'test',
    workerFile: path.resolve('lib/server/templates/lab-worker.ts'),
    start: { dataFolder: folder, tokenizers: places },
    longestMs,
  })

let thread: LabThread
let loaded: LoadedTokenizer
beforeAll(async () => {
  openTrajectoryStore(folder, { now: () => new Date() }).close()
  thread = threadOf(60_000)
  loaded = await createTokenizerLoader(places).load(BUILT_IN)
})
afterAll(async () => {
  await thread.close()
})

const messages = [{ role: 'user', content: 'Hi' }]
const work = (template: string): LabWork => ({
  parts: { template },
  texts: { messages: JSON.stringify(messages), tools: '', options: '' },
})
/** Two million blanks are one word, whose encoding takes seconds. */
const BLANKS = "{{ ' ' * 1900000 }}"
const FOR_EVER = '{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}'

describe('The thread of the template lab', () => {
  test('answers requests, and raises the error that a template raises', async () => {
    const text = 'Blanks  and\n\nwords'
    const tokenizer = BUILT_IN
    expect(await thread.ask({ kind: 'encode', tokenizer, text }, never)).toEqual(loaded.tokenizer.encode(text))
    const preview = await labAnswer(thread, { kind: 'preview', ...work('<{{ messages[0].content }}>') }, never)
    expect(JSON.parse(preview)).toMatchObject({
      text: '<Hi>',
      tokenizer: { fingerprint: loaded.tokenizer.fingerprint },
    })
    const input = {
      messages: '[{"role": "user"}]',
      tools: undefined,
      options: '{"x": 1.0}',
      addGenerationPrompt: false,
    }
    const render = (template: string) => thread.ask({ kind: 'render', tokenizer, template, input }, never)
    expect(await render('{{ x }}')).toBe('1.0')
    expect(await thread.ask({ kind: 'render', tokenizer: undefined, template: '{{ eos_token }}!', input }, never)).toBe(
      '!',
    )
    await expect(render('\n{{ a.b }}')).rejects.toMatchObject({ className: 'UndefinedError', line: 2 })
    await expect(render('{{ "a" * 10 ** 10 }}')).rejects.toMatchObject({ className: 'BudgetError' })
    await expect(
      labAnswer(thread, { kind: 'diagnosis', ...work(''), parts: { trajectory: 'none' } }, never),
    ).rejects.toMatchObject({ details: { status: 404, code: 'NO_TRAJECTORY' } })
  })

  test('parses a text with every parser, and refuses an unknown one', async () => {
    const parse = (parsers?: readonly string[]) =>
      thread.ask(
        {
          kind: 'parse',
          tokenizer: undefined,
          request: { text: '<think>'.repeat(2_000), ...(parsers && { parsers }) },
        },
        never,
      )
    expect(JSON.parse(await parse()).results).toHaveLength(parserNames.length)
    await expect(parse(['none'])).rejects.toMatchObject({ details: { status: 422, code: 'NO_PARSER' } })
  })

  test('ends a request that takes too long, reports it, and answers the next request', async () => {
    const brief = threadOf(1)
    await expect(labAnswer(brief, { kind: 'preview', ...work(BLANKS) }, never)).rejects.toMatchObject({
      details: { status: 422, code: 'TOO_SLOW', detail: expect.stringContaining('it took longer') },
    })
    await brief.close()
  })

  test('leaves GET answers over HTTP unblocked while a hostile template renders, and ends when its client leaves', async () => {
    const leaving = new AbortController()
    const server = createServer((_, response) => response.end('ok'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    let isAnswered = false
    const answer = labAnswer(thread, { kind: 'preview', ...work(BLANKS) }, leaving.signal).finally(() => {
      isAnswered = true
    })
    answer.catch(() => {})
    let health = 0
    while (!isAnswered && health < 20) {
      expect(await (await fetch(`http://127.0.0.1:${port}/api/health`)).text()).toBe('ok')
      health++
    }
    expect({ isAnswered, health }).toEqual({ isAnswered: false, health: 20 })
    leaving.abort(new Error('left'))
    await expect(answer).rejects.toThrow('left')
    server.close()
    server.closeAllConnections()
    expect(await thread.ask({ kind: 'encode', tokenizer: BUILT_IN, text: 'a' }, never)).toHaveLength(1)
  })
})

describe('A tokenizer on the serving thread', () => {
  /** Kinds of the requests to the other thread. */
  let asked: string[] = []
  const threaded = () =>
    createThreadedTokenizers({
      ask: (question, signal) => {
        asked.push(question.kind)
        return thread.ask(question, signal)
      },
    })(loaded, BUILT_IN)
  beforeEach(() => {
    asked = []
  })

  const prompt = (template: string, content: string) => {
    const { loaded: own, settle } = threaded()
    const promptEncoder = { tokenizer: own.tokenizer, template: own.compile(template) }
    return settle(
      () => firstPrompt([{ role: 'user', content }], { tools: [], options: { x: 1.5 } }, promptEncoder),
      never,
    )
  }
  const here = (template: string, content: string) =>
    firstPrompt(
      [{ role: 'user', content }],
      { tools: [], options: { x: 1.5 } },
      { tokenizer: loaded.tokenizer, template: loaded.compile(template) },
    )
  const own = () => loaded.template(false)?.text ?? ''

  test('derives a common prompt itself', async () => {
    const content = 'Where are the fjords, and how deep? '.repeat(500)
    expect(await prompt(own(), content)).toEqual(here(own(), content))
    expect(asked).toEqual([])
  })

  test.each([
    ['a long word', "{{ messages[0].content }}{{ 'a' * 20000 }}", ['encode']],
    ['a long text', '{{ messages[0].content * 20000 }}', ['encode']],
    [
      'a slow template',
      // The template needs more steps than this thread may take, but far less than the second that the other thread has.
      '{% for i in range(500) %}{% for j in range(500) %}{% endfor %}{% endfor %}{{ x }}',
      ['render'],
    ],
    ['a template that writes much', "{{ 'a b ' * 80000 }}", ['render', 'encode']],
  ])('leaves %s to the other thread, with the same result', async (_, template, kinds) => {
    const derived = await prompt(template, 'Deep.')
    expect(derived).toEqual(here(template, 'Deep.'))
    expect(asked).toEqual(kinds)
  })

  test('refuses a template that never ends, and continues with others', async () => {
    await expect(prompt(FOR_EVER, 'Hi')).rejects.toBeInstanceOf(TemplateError)
    expect(await prompt('{{ x }}', 'Hi')).toEqual(here('{{ x }}', 'Hi'))
  })

  test('is shared by all users of the same files, so that its cached results stay', () => {
    const { loaded: own } = threaded()
    expect(own.template(false)).toBe(own.template(false))
    expect(own.compile('a')).toBe(own.compile('a'))
    expect(own.tokenizer.frame).toEqual(loaded.tokenizer.frame)
    expect(own.tokenizer.encode(' '.repeat(5_000))).toEqual(loaded.tokenizer.encode(' '.repeat(5_000)))
  })

  test.each([
    ['Short words are quick', 'deep water, '.repeat(5_000), true],
    ['A short text without words is quick', '深'.repeat(2_000), true],
    ['A long word is slow', '深'.repeat(3_000), false],
    ['A run of blanks is slow', `a${' '.repeat(3_000)}`, false],
    ['A run of signs is slow', `a${'='.repeat(3_000)}`, false],
    ['Several long words are slow together', `${'a'.repeat(1_500)} ${'b'.repeat(1_500)}`, false],
    ['A book is slow', 'deep water, '.repeat(50_000), false],
  ])('classifies a text by its speed: %s', (_, text, isQuick) => {
    expect(isQuickText(text, true)).toBe(isQuick)
    expect(isQuickText(text, false)).toBe(text.length <= 2_048)
  })
})
