/** What the template lab answers over HTTP: the shipped model's tokenizer and template, a server that renders its own. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type * as z from 'zod'
import { templateCheckSchema } from '#lib/core/template-check.ts'
import { steady } from '#lib/lab/stability/test-templates.ts'
import { MODEL_FOLDER } from '#lib/local-model/test-model.ts'
import { SglangError } from '#lib/sglang/errors.ts'
import { looksBack } from '#lib/tito/small-templates.ts'
import { createTokenizerLoader } from '#lib/tokenizer/load.ts'
import type { LoadedTokenizer } from '#lib/tokenizer-files/tokenizer-files.ts'
import { chosenTemplate, readLabRequest } from './lab-request.ts'
import { renderAnswerSchema, renderConversation, renderRequestSchema } from './render.ts'
import { BUILT_IN } from './servers.ts'
import type { Services } from './services.ts'
import { checkRequestSchema, checkTemplate } from './template-check.ts'
import { diagnose, doctorAnswerSchema, doctorRequestSchema } from './template-doctor.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-lab-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const never = new AbortController().signal
const tokenizers = createTokenizerLoader({
  builtIn: { [BUILT_IN]: MODEL_FOLDER },
  folders: [],
  hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: folder },
})
let loaded: LoadedTokenizer
/** What the server answers for messages. */
let served: () => Promise<readonly number[]>
let python = 'nowhere'
const all = {
  tokenizers,
  get config() {
    return { python, applicationFolder: path.resolve('.') }
  },
  servers: {
    defaultName: 'remote',
    client: () => ({
      describe: async () => ({ version: '0.5.23', modelName: 'tiny' }),
      tokenizeMessages: () => served(),
    }),
  },
} as unknown as Services
beforeAll(async () => {
  loaded = await tokenizers.load(BUILT_IN)
})

const messages = [
  { role: 'user', content: 'What is 25 * 17?' },
  { role: 'assistant', content: '425' },
]

/** A request's way through a route, for any of the three. */
async function asked<T extends { readonly tokenizer?: string; readonly template?: string }>(
  schema: z.ZodType<T>,
  body: object | string,
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const request = new Request('http://localhost/api', { method: 'POST', body: text })
  const read = await readLabRequest(request, schema)
  return { ...read, chosen: await chosenTemplate(read.asked, read.texts.tools, all, never) }
}
const render = async (body: object | string) => {
  const { texts, chosen } = await asked(renderRequestSchema, body)
  return renderAnswerSchema.parse(renderConversation(texts, chosen))
}
const check = async (body: object) => {
  const { asked: wish, texts, chosen } = await asked(checkRequestSchema, { messages, ...body })
  return templateCheckSchema.parse(await checkTemplate(wish, texts, chosen, all, never))
}

describe('render', () => {
  test('text, ids and the place of every token', async () => {
    const template = '{% for m in messages %}\n{{ m.role }}: {{ m.content }}\n{% endfor %}'
    const answer = await render({ messages, template })
    expect(answer.text).toBe('user: What is 25 * 17?\nassistant: 425\n')
    expect(answer.ids).toEqual(loaded.tokenizer.encode(answer.text))
    expect(new Set(answer.lines)).toEqual(new Set([2]))
    expect(new Set(answer.messages)).toEqual(new Set([0, 1]))
    expect(answer.mask).toBeNull()
    expect(answer.tokenizer.fingerprint).toBe(loaded.tokenizer.fingerprint)
  })

  test('numbers and the order of keys are those of the request’s text', async () => {
    const template = '{{ messages[0].x | tojson }} {{ y }}'
    const body = `{"template": ${JSON.stringify(template)}, "options": {"y": 1e16}, "messages": [{"role": "user", "x": {"2": 1.0, "1": 12345678901234567890}}]}`
    expect((await render(body)).text).toBe('{"2": 1.0, "1": 12345678901234567890} 1e+16')
  })

  test('JSON may come as its text', async () => {
    const template = '{{ messages[0].x }}'
    expect((await render({ template, messages: '[{"role": "user", "x": 1.50}]' })).text).toBe('1.5')
  })

  test('without a template the tokenizer’s own is rendered', async () => {
    expect((await render({ messages })).text).toBe(
      loaded.template(false)?.render({ messages, tools: undefined, addGenerationPrompt: false, options: {} }),
    )
  })

  test.each([
    [
      { messages, template: 'a\n{{ messages[0].a.b }}' },
      "template: UndefinedError: 'dict object' has no attribute 'a' (line 2)",
    ],
    [{ messages, template: '{% if %}' }, 'template: TemplateSyntaxError: Expected an expression'],
    [{ messages: '[1,]', template: '' }, 'messages: JSONDecodeError: '],
    [{ messages: [], template: '' }, 'messages: ValueError: a conversation needs at least one message'],
    [{ messages, template: '', tools: [1] }, 'tools: TypeError: entry 1 of the tools is not an object'],
    [{ messages, template: '', options: { tools: 1 } }, 'options: ValueError: tools is given by itself'],
  ])('%j is refused in the right words', async (body, detail) => {
    await expect(render(body)).rejects.toMatchObject({
      details: { status: 422, detail: expect.stringContaining(detail) },
    })
  })
})

test('a template that would never end is refused, and the server goes on', async () => {
  const template = '{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}'
  await expect(render({ messages, template })).rejects.toMatchObject({
    details: { status: 422, detail: expect.stringContaining('BudgetError') },
  })
})

describe('check', () => {
  test('a server that gives the same ids confirms', async () => {
    const { ids } = await render({ messages })
    served = async () => ids
    expect(await check({ judge: 'server' })).toEqual({
      judge: 'server',
      version: 'server remote, SGLang 0.5.23, tiny',
      verdict: 'same',
      detail: `The server, with its own template, has the same ${ids.length} tokens.`,
    })
  })

  test('one that gives others contradicts, from the first on that differs', async () => {
    const { ids } = await render({ messages })
    served = async () => [...ids.slice(0, -1), ...loaded.tokenizer.encode('zebra')]
    expect(await check({ judge: 'server' })).toMatchObject({
      verdict: 'differs',
      firstDifference: { unit: 'token', at: ids.length - 1, theirs: 'zebra' },
    })
  })

  test('one that cannot is unavailable; a failure of ours is told beside its answer', async () => {
    served = async () => {
      throw new SglangError('UPSTREAM_REJECTED', 'it has no /tokenize')
    }
    expect(await check({ judge: 'server' })).toMatchObject({
      verdict: 'unavailable',
      detail: 'the server remote gives no render: it has no /tokenize',
    })
    served = async () => [1]
    expect(await check({ judge: 'server', template: '{{ 1/0 }}' })).toMatchObject({
      verdict: 'differs',
      detail: expect.stringContaining('ZeroDivisionError: division by zero'),
    })
  })

  test('a Python that is not there is unavailable', async () => {
    python = path.join(folder, 'no-python')
    expect(await check({ judge: 'python' })).toMatchObject({
      verdict: 'unavailable',
      detail: expect.stringContaining('no-python'),
    })
  })

  test.each([
    ['the same text and ids', { text: 'x', ids: 'ours' }, 'same', 'Python has the same'],
    ['another text', { text: 'y', ids: [] }, 'differs', 'Python renders another text, from character 0 on.'],
    ['other ids', { text: 'x', ids: [0, 1] }, 'differs', 'Python has other tokens, from token 0 on'],
    [
      'an error',
      { error: { className: 'TypeError', message: 'm', line: 1 } },
      'differs',
      'Python raises TypeError: m (line 1); here it renders.',
    ],
  ])('Python with %s', async (_, answer, verdict, detail) => {
    python = answering(
      'ids' in answer && answer.ids === 'ours' ? { ...answer, ids: loaded.tokenizer.encode('x') } : answer,
    )
    expect(await check({ judge: 'python', template: 'x' })).toMatchObject({
      version: 'python 3',
      verdict,
      detail: expect.stringContaining(detail),
    })
  })

  test('Python that raises: the same words confirm, others contradict', async () => {
    const template = '\n{{ nothing.at_all }}'
    python = answering({ error: { className: 'UndefinedError', message: "'nothing' is undefined", line: 2 } })
    expect(await check({ judge: 'python', template })).toMatchObject({ verdict: 'same' })
    python = answering({ error: { className: 'UndefinedError', message: "'nothing' is undefined", line: 3 } })
    expect(await check({ judge: 'python', template })).toMatchObject({ verdict: 'differs' })
    python = answering({ text: 'fine', ids: [] })
    expect(await check({ judge: 'python', template })).toMatchObject({
      verdict: 'differs',
      detail: "Python renders; here it raises UndefinedError: 'nothing' is undefined (line 2).",
    })
  })
})

describe('doctor', () => {
  const diagnosis = async (body: object) => {
    const { asked: wish, texts, chosen } = await asked(doctorRequestSchema, body)
    return doctorAnswerSchema.parse(await diagnose(wish, texts, chosen, all, never))
  }

  test('a verdict for every boundary; masks where there is a conversation', async () => {
    const stable = await diagnosis({ template: steady.replace("'\\n<tool_call>", "'<tool_call>") })
    expect(stable.summary).toMatchObject({ unstable: 0, errors: 0 })
    expect(stable.masks).toBeUndefined()
    const unstable = await diagnosis({ template: looksBack, messages })
    expect(unstable.summary.unstable).toBeGreaterThan(0)
    expect(unstable.masks).toMatchObject({ version: 1, failure: undefined })
  })
})

/** A program in Python's place that gives one answer. */
function answering(answer: object): string {
  const file = path.join(folder, 'python.cjs')
  const text = JSON.stringify({ versions: { python: '3' }, ...answer })
  writeFileSync(file, `#!${process.execPath}\nconsole.log(${JSON.stringify(text)})\n`)
  chmodSync(file, 0o755)
  return file
}
