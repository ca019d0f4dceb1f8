/** Tests the template lab over HTTP with the shipped model's tokenizer and template, and a server that renders its own template. */
import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type * as z from 'zod'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import { BUILT_IN } from '#lib/api/server-name.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import { templateCheckSchema } from '#lib/api/template-check.ts'
import { MODEL_FOLDER } from '#lib/builtin-server/test-model.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { alias, steady } from '#lib/templates/prefix-preservation/test-templates.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { looksBack } from '#testing/small-templates.ts'
import type { Services } from '../services.ts'
import { createLabAnswers } from './lab-answers.ts'
import { answerDoctor, readLabRequest } from './lab-routes.ts'
import { type LabThread, labAnswer } from './lab-thread.ts'
import { renderAnswerSchema, renderRequestSchema } from './render.ts'
import { checkRequestSchema, checkTemplate } from './template-check.ts'

import {
  doctorAnswerSchema,
  doctorRequestSchema,
  fixAnswerSchema,
  fixRequestSchema,
  searchAnswerSchema,
  searchRequestSchema,
} from './template-doctor.ts'

const folder = folderOfFile()

const never = new AbortController().signal
const tokenizers = createTokenizerLoader({
  builtIn: { [BUILT_IN]: MODEL_FOLDER },
  folders: [],
  hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: folder },
})
let loaded: LoadedTokenizer
/** The ids that the server answers. */
let described: Partial<ServerDescription> = {}
let served: () => Promise<readonly number[]>
let python = 'nowhere'
/** Answers on this thread as the lab's threads do. */
const here: LabThread = {
  ask: createLabAnswers({ tokenizers, reader: { read: () => undefined } }),
  close: async () => {},
}
const all = {
  tokenizers,
  rendering: here,
  diagnosing: here,
  store: { isDeleted: () => false },
  get config() {
    return { python, applicationFolder: path.resolve('.') }
  },
  servers: {
    defaultName: 'remote',
    client: () => ({
      describe: async () => ({ version: '0.5.23', modelName: 'tiny', ...described }),
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

/** Reads a request as the routes do. */
async function asked<T extends { readonly tokenizer?: string; readonly template?: string }>(
  schema: z.core.$ZodType<T>,
  body: object | string,
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return readLabRequest(new Request('http://localhost/api', { method: 'POST', body: text }), schema)
}
const render = async (body: object | string) => {
  const work = await asked(renderRequestSchema, body)
  return renderAnswerSchema.parse(JSON.parse(await labAnswer(all.rendering, { kind: 'preview', ...work }, never)))
}
const check = async (body: object) => {
  const work = await asked(checkRequestSchema, { messages, ...body })
  return templateCheckSchema.parse(await checkTemplate(work, all, never))
}

describe('The render route', () => {
  test('returns the text, the ids and the source of every token', async () => {
    const template = '{% for m in messages %}\n{{ m.role }}: {{ m.content }}\n{% endfor %}'
    const answer = await render({ messages, template })
    expect(answer.text).toBe('user: What is 25 * 17?\nassistant: 425\n')
    expect(answer.ids).toEqual(loaded.tokenizer.encode(answer.text))
    expect(new Set(answer.lines)).toEqual(new Set([2]))
    expect(new Set(answer.messages)).toEqual(new Set([0, 1]))
    expect(answer.mask).toBeNull()
    expect(answer.tokenizer.fingerprint).toBe(loaded.tokenizer.fingerprint)
  })

  test('keeps the numbers and the order of keys of the request’s text', async () => {
    const template = '{{ messages[0].x | tojson }} {{ y }}'
    const body = `{"template": ${JSON.stringify(template)}, "options": {"y": 1e16}, "messages": [{"role": "user", "x": {"2": 1.0, "1": 12345678901234567890}}]}`
    expect((await render(body)).text).toBe('{"2": 1.0, "1": 12345678901234567890} 1e+16')
  })

  test('accepts JSON as a text', async () => {
    const template = '{{ messages[0].x }}'
    expect((await render({ template, messages: '[{"role": "user", "x": 1.50}]' })).text).toBe('1.5')
  })

  test('leaves the last message open with continue_final_message, and passes an empty list of tools to the template', async () => {
    const template = '{% for m in messages %}{{ m.content }}.{% endfor %}{{ tools }}'
    expect((await render({ messages, template, options: { continue_final_message: true } })).text).toBe(
      'What is 25 * 17?.425',
    )
    expect((await render({ messages, template, tools: [] })).text).toBe('What is 25 * 17?.425.[]')
    expect((await render({ messages, template })).text).toBe('What is 25 * 17?.425.None')
  })

  test('renders the tokenizer’s own template if the request has none', async () => {
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
    [
      { messages, template: '', options: { tools: 1 } },
      'options: TypeError: tools is an argument of apply_chat_template',
    ],
  ])('refuses %j in Python’s words', async (body, detail) => {
    await expect(render(body)).rejects.toMatchObject({
      details: { status: 422, detail: expect.stringContaining(detail) },
    })
  })
})

test('The render route refuses a template that exceeds its budget', async () => {
  const template = '{{ "a" * 10 ** 10 }}'
  await expect(render({ messages, template })).rejects.toMatchObject({
    details: { status: 422, detail: expect.stringContaining('BudgetError') },
  })
})

describe('The check route', () => {
  test('confirms a render if the server has the same ids', async () => {
    const { ids } = await render({ messages })
    served = async () => ids
    expect(await check({ renderer: 'server' })).toEqual({
      renderer: 'server',
      version: 'server remote, SGLang 0.5.23, tiny',
      verdict: 'same',
      detail: `The server, with its own template, has the same ${ids.length} tokens.`,
    })
  })

  test('names the engine of the server', async () => {
    const { ids } = await render({ messages })
    served = async () => ids
    described = { version: '0.32.0', capabilities: ENGINE_CAPABILITIES.vllm }
    try {
      expect((await check({ renderer: 'server' })).version).toBe('server remote, vLLM 0.32.0, tiny')
    } finally {
      described = {}
    }
  })

  test('reports the first difference if the server has other ids', async () => {
    const { ids } = await render({ messages })
    served = async () => [...ids.slice(0, -1), ...loaded.tokenizer.encode('zebra')]
    expect(await check({ renderer: 'server' })).toMatchObject({
      verdict: 'differs',
      firstDifference: { unit: 'token', at: ids.length - 1, theirs: 'zebra' },
    })
  })

  test('is unavailable without the server’s render, and reports our own error beside the server’s answer', async () => {
    served = async () => {
      throw new EngineError('UPSTREAM_REJECTED', 'it has no /tokenize')
    }
    expect(await check({ renderer: 'server' })).toMatchObject({
      verdict: 'unavailable',
      detail: 'the server remote cannot render: it has no /tokenize',
    })
    served = async () => [1]
    expect(await check({ renderer: 'server', template: '{{ 1/0 }}' })).toMatchObject({
      verdict: 'differs',
      detail: expect.stringContaining('ZeroDivisionError: division by zero'),
    })
  })

  test('accepts the earlier name of the field renderer, and names the field if neither is in the request', async () => {
    served = async () => [1]
    expect(await check({ judge: 'server' })).toMatchObject({ renderer: 'server' })
    expect(await check({ judge: 'python', renderer: 'server' })).toMatchObject({ renderer: 'server' })
    await expect(check({})).rejects.toMatchObject({
      details: { status: 422, field: 'renderer', detail: expect.stringContaining('"server" or "python"') },
    })
  })

  test('is unavailable without a Python program', async () => {
    python = path.join(folder, 'no-python')
    expect(await check({ renderer: 'python' })).toMatchObject({
      verdict: 'unavailable',
      detail: expect.stringContaining('no-python'),
    })
  })

  test.each([
    ['the same text and ids', { text: 'x', ids: 'ours' }, 'same', 'Python has the same'],
    ['another text', { text: 'y', ids: [] }, 'differs', 'Python renders a different text, from character 0.'],
    ['other ids', { text: 'x', ids: [0, 1] }, 'differs', 'Python has different tokens, from token 0'],
    [
      'an error',
      { error: { className: 'TypeError', message: 'm', line: 1 } },
      'differs',
      'Python raises TypeError: m (line 1); here it renders.',
    ],
  ])('compares a render with a Python that answers %s', async (_, answer, verdict, detail) => {
    python = answering(
      'ids' in answer && answer.ids === 'ours' ? { ...answer, ids: loaded.tokenizer.encode('x') } : answer,
    )
    expect(await check({ renderer: 'python', template: 'x' })).toMatchObject({
      version: 'python 3',
      verdict,
      detail: expect.stringContaining(detail),
    })
  })

  test('confirms an error if Python raises it in the same words, and contradicts any other answer', async () => {
    const template = '\n{{ nothing.at_all }}'
    python = answering({ error: { className: 'UndefinedError', message: "'nothing' is undefined", line: 2 } })
    expect(await check({ renderer: 'python', template })).toMatchObject({ verdict: 'same' })
    python = answering({ error: { className: 'UndefinedError', message: "'nothing' is undefined", line: 3 } })
    expect(await check({ renderer: 'python', template })).toMatchObject({ verdict: 'differs' })
    python = answering({ text: 'fine', ids: [] })
    expect(await check({ renderer: 'python', template })).toMatchObject({
      verdict: 'differs',
      detail: "Python renders; here it raises UndefinedError: 'nothing' is undefined (line 2).",
    })
  })
})

describe('The doctor route', () => {
  const report = async (body: object) => {
    const work = await asked(doctorRequestSchema, body)
    return doctorAnswerSchema.parse(JSON.parse(await answerDoctor(work, all, never)))
  }

  test('returns a verdict for every boundary, and masks if the request has a conversation', async () => {
    const stable = await report({ template: steady.replace("'\\n<tool_call>", "'<tool_call>") })
    expect(stable.summary).toMatchObject({ unstable: 0, errors: 0 })
    expect(stable.masks).toBeUndefined()
    const unstable = await report({ template: looksBack, messages })
    expect(unstable.summary.unstable).toBeGreaterThan(0)
    expect(unstable.masks).toMatchObject({ version: 1 })
    expect(unstable.masks).not.toHaveProperty('failure')
    const merging = await report({ template: steady })
    expect(merging.summary.merges).toBe(merging.summary.unstable)
    expect(merging.summary.merges).toBeGreaterThan(0)
    expect((await report({ template: steady, compares: 'text' })).summary).toMatchObject({ unstable: 0, merges: 0 })
  })
})

describe('The routes of fixes and counterexamples', () => {
  const fix = async (body: object) => {
    const work = await asked(fixRequestSchema, body)
    return fixAnswerSchema.parse(JSON.parse(await labAnswer(here, { kind: 'fix', ...work }, never)))
  }
  const search = async (body: object) => {
    const work = await asked(searchRequestSchema, body)
    return searchAnswerSchema.parse(JSON.parse(await labAnswer(here, { kind: 'search', ...work }, never)))
  }

  test('return a fix of one cell with its diff, the cells that it cures, and its search', async () => {
    // With the shipped tokenizer, two line breaks would merge at the generation prompt.
    const template = alias.replace("'\\n<tool_call>", "'<tool_call>")
    const answer = await fix({ template, cell: 'tool/without/off' })
    expect(answer).toMatchObject({
      template: template.replace('<|endoftext|>', '<|im_end|>'),
      applied: [
        {
          cell: 'tool/without/off',
          costs: [{ where: 'earlier', before: '<|endoftext|>', after: '<|im_end|>' }],
          search: { brokenAfter: expect.any(Number) },
        },
      ],
      isComplete: true,
    })
    expect(answer.applied[0]?.cured).toContain('tool/without/off')
  })

  test('return the smallest conversation that breaks, or how many were tried', async () => {
    expect(await search({ template: alias })).toMatchObject({ kind: 'found', counterexample: { replyIndex: 1 } })
    const known = ['end-of-turn', 'merge', 'whitespace', 'new-messages-rewritten', 'history-rewritten']
    expect(await search({ template: alias, known, cases: 20, seed: 7 })).toEqual({ kind: 'none', seed: 7, tried: 20 })
  })

  test('refuse a template that does not compile, with its line', async () => {
    for (const request of [fix, search])
      await expect(request({ template: 'a\n{% if %}' })).rejects.toMatchObject({
        details: { status: 422, code: 'TEMPLATE_ERROR', detail: expect.stringContaining('(line 2)') },
      })
  })
})

/** Creates a program in place of Python that prints one answer. */
function answering(answer: object): string {
  const file = path.join(folder, 'python.cjs')
  const text = JSON.stringify({ versions: { python: '3' }, ...answer })
  writeFileSync(file, `#!${process.execPath}\nconsole.log(${JSON.stringify(text)})\n`)
  chmodSync(file, 0o755)
  return file
}
