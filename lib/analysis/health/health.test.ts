import { describe, expect, test } from 'vitest'
import { checkSample } from '#lib/analysis/corpus/check.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import { countsAsDrift } from '#lib/trajectory/drift/report.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import { FORMAT, type PromptSegment, type ResponseSegment, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type Health, healthSchema, healthSummary, worstSeverity } from '#lib/trajectory/health/health.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import { byteId, byteTokenizer, byteVocab } from '#testing/byte-tokenizer.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { driftTokenizer, withDrift } from './drift.ts'
import { health } from './health.ts'
import { driftTask, healthTask } from './tasks.ts'
import { textDrift } from './text-drift.ts'

const tiny = loadedTokenizer(tokenizerFolder('tiny-qwen3'), 'built-in')
const kinds = ({ findings }: Health): string[] => findings.map(({ kind, label }) => `${kind}: ${label}`)
const checked = (trajectory: Trajectory): Health => runToEnd(health(trajectory))

const encode = byteTokenizer.encode
const end = byteId('<|im_end|>')
const prompt: PromptSegment = {
  kind: 'prompt',
  ids: encode('<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n'),
  messages: [{ role: 'user', content: 'hi' }],
  derivation: { kind: 'whole' },
}
const response = (text: string, change: Partial<ResponseSegment> = {}): ResponseSegment => {
  const ids = [...encode(text), end]
  return {
    kind: 'response',
    ids,
    logprobs: ids.map(() => -0.5),
    thinks: [],
    toolCalls: [],
    finish: { kind: 'stop', matched: end },
    weightVersions: [{ version: '1', start: 0, end: ids.length }],
    ...change,
  }
}
const of = (segments: Trajectory['segments'], change: Partial<Trajectory> = {}): Trajectory => ({
  format: FORMAT,
  id: 't',
  createdAt: '2026-01-01T00:00:00.000Z',
  model: {
    tokenizer: { name: 'bytes', specialIds: [end], endOfTurnId: end },
    tools: [{ name: 'add', inputSchema: {} }],
    parser: 'hermes',
  },
  vocab: byteVocab(),
  segments,
  outcome: { kind: 'ended', reason: 'end_turn' },
  provenance: { kind: 'rollout', application: 'test' },
  ...change,
})

describe('health', () => {
  test('of recorded runs is good, and lists the checks that were done', () => {
    for (const name of ['two-steps', 'parallel-calls', 'retokenization-drift']) {
      const { findings, checks } = checked(exampleTrajectory(name))
      expect([name, findings]).toEqual([name, []])
      expect(checks.map(({ name, unknown }) => [name, unknown])).toEqual(
        [
          'loss mask',
          'token-in/token-out',
          'recorded problems',
          'endings',
          'tool calls',
          'weight versions',
          'logprobs',
          'token ids',
          'texts of the file',
          'images',
        ].map((check) => [check, undefined]),
      )
    }
    const failed = checked(exampleTrajectory('tool-error'))
    expect(kinds(failed)).toEqual(['failed-call: 1 failed call'])
    expect(failed.findings[0]?.message).toMatch(/^The tool returned an error: \S.{5}/)
    expect(checked(of([prompt, response('ok')])).findings).toEqual([])
  })

  test('is the same for a packed trajectory, matches its schema, and reports its progress', () => {
    const steps = healthTask({ cut: null }, pack(sample).trajectory, [])
    const progress: unknown[] = []
    let step = steps.next()
    for (; !step.done; step = steps.next()) progress.push(step.value)
    expect(step.value).toEqual(checked(sample))
    expect(healthSchema.parse(step.value)).toEqual(step.value)
    expect(progress.at(-1)).toEqual({ done: 9, of: 10 })
  })

  test('reports logprobs above 0 as errors at their tokens, except for rounding', () => {
    const { ids, logprobs = [] } = response('ok')
    const found = (logprob: number) =>
      checked(of([prompt, response('ok', { logprobs: [...logprobs.slice(0, -1), logprob] })])).findings
    const last = prompt.ids.length + ids.length - 1
    expect(found(0.5)).toMatchObject([
      {
        kind: 'impossible-logprob',
        severity: 'error',
        label: '1 logprob above 0',
        message: expect.stringContaining(`token ${last} is 0.5`),
        places: [{ start: last, end: last + 1 }],
      },
    ])
    expect(found(1e-6)).toEqual([])
  })

  test('reports alternatives of a position with the same id as a problem, and not that several positions lack the same rank', () => {
    const none = { ids: [1, 2, 3, 1, -1, -1], logprobs: [-1, -2, -3, -1, null, null] }
    const twice = { ids: [1, 2, 3, 1, 4, 1], logprobs: [-1, -2, -3, -1, -2, -3] }
    const found = (top: typeof none) => checked(of([prompt, response('o', { topLogprobs: { k: 3, ...top } })])).findings
    expect(found(none)).toEqual([])
    const last = prompt.ids.length + 1
    expect(found(twice)).toMatchObject([
      {
        kind: 'problem',
        severity: 'warning',
        label: '1 position with the same alternative twice',
        message: expect.stringContaining(`token ${last} include the id 1 more than once`),
        places: [{ start: last, end: last + 1 }],
      },
    ])
  })

  test('reports ids beyond the vocabulary of the named tokenizer as errors at their tokens', () => {
    const trajectory = of([prompt, response('ok')])
    const { tokenizer } = trajectory.model
    const of100 = { ...trajectory.model, ...(tokenizer && { tokenizer: { ...tokenizer, vocabularySize: end } }) }
    const { findings } = checked({ ...trajectory, model: of100 })
    expect(findings).toMatchObject([
      { kind: 'foreign-id', severity: 'error', message: expect.stringMatching(/tokenizer bytes has only \d+ ids/) },
    ])
    expect(findings[0]?.places.at(-1)).toEqual({ start: prompt.ids.length + 2, end: prompt.ids.length + 3 })
    expect(checked({ ...trajectory, model: { tools: [] } }).findings.map(({ kind }) => kind)).not.toContain(
      'foreign-id',
    )
  })

  describe('compares the texts of a file with its ids:', () => {
    const found = (foreign: NonNullable<Trajectory['foreign']>, change: Partial<Trajectory> = {}) =>
      checked(of([prompt, response('Grüße, 四')], { foreign, ...change })).findings

    test.each<[string, NonNullable<Trajectory['foreign']>]>([
      ['the response of slime, without its special token', { slime: { response: 'Grüße, 四' } }],
      ['the response of slime, with it and a space', { slime: { response: 'Grüße, 四<|im_end|>\n' } }],
      ['the response of TorchRL', { torchrl: { text: { response: 'Grüße, 四' } } }],
      ['no text', { slime: { response: '' }, torchrl: { text: null } }],
      ['what is no text', { slime: { response: 7 }, torchrl: { text: { full: ['a'] } } }],
    ])('%s matches the ids', (_, foreign) => {
      expect(found(foreign)).toEqual([])
    })

    test('texts of another tokenizer are reported, with the position of the difference', () => {
      expect(found({ slime: { response: 'Grüne Wiese' } })).toMatchObject([
        {
          kind: 'other-text',
          severity: 'warning',
          message:
            'The file’s response differs from the ids as decoded by the tokenizer bytes: from character 3 the file has "ne Wiese", the tokenizer "ße, 四".',
          places: [{ start: prompt.ids.length }],
        },
      ])
      expect(found({ torchrl: { text: { full: 'hi' } } })).toMatchObject([{ places: [{ start: 0 }] }])
    })

    test.each([
      ['its content', { content: 'Grüße, 四' }, 0],
      ['its reasoning alone', { content: 'Rewritten by the server', reasoning: 'Grüße,' }, 0],
      ['no text', { content: ' ', tool_calls: [] }, 0],
      ['a text of another model', { content: 'Grüne Wiese' }, 1],
    ])('the message of a reply with %s is found in the ids, or reported', (_, message, count) => {
      const { vocab, ...reply } = { vocab: byteVocab(), ...response('<think>Grüße, 四') }
      const provenance = { kind: 'import', format: 'chat-completion', lacked: [] } as const
      const { findings } = checked(of([prompt, { ...reply, message }], { provenance, vocab }))
      expect(findings.filter(({ kind }) => kind === 'other-text')).toMatchObject(
        Array(count).fill({
          message:
            'The file’s message of segment 1 differs from the ids as decoded by the tokenizer bytes: from character 0 the file has "Grüne Wiese", the tokenizer "<think>Grüße, 四".',
          places: [{ start: prompt.ids.length, end: prompt.ids.length + reply.ids.length }],
        }),
      )
      const own = checked(of([prompt, { ...reply, message }], { vocab }))
      expect(own.findings.map(({ kind }) => kind)).not.toContain('other-text')
    })

    test('texts are not compared if no tokenizer is named', () => {
      const { tokenizer: _, ...model } = of([]).model
      expect(found({ slime: { response: 'Grüne Wiese' } }, { model }).map(({ kind }) => kind)).not.toContain(
        'other-text',
      )
    })
  })

  test('reports what the trainer’s cut loses if a cut is known', () => {
    const withCut = (tokens: number) => runToEnd(health(sample, { tokens, overlong: 'cut' }))
    expect(withCut(8).findings.find(({ kind }) => kind === 'lost-after-cut')?.places).toEqual([{ start: 10, end: 11 }])
    expect(withCut(12).findings).toEqual(checked(sample).findings)
    expect(withCut(12).checks.at(-1)).toEqual({ name: 'trainer’s cut' })
  })

  test('names positions by tokens of the trajectory', () => {
    const found = checked(sample)
    expect(found.findings.find(({ kind }) => kind === 'malformed-call')?.places).toEqual([{ start: 6, end: 7 }])
    expect(found.findings.find(({ kind }) => kind === 'problem')?.places).toEqual([{ start: 8, end: 9 }])
    expect(found.findings.find(({ kind }) => kind === 'truncated')?.places).toEqual([{ start: 11, end: 12 }])
  })

  test('reports a problem of an unknown kind by its name, whatever that is', () => {
    const problems = [{ kind: 'constructor', message: 'm' }]
    const found = checked({ ...sample, problems })
    expect(found.findings.map(({ label }) => label)).toContain('1 problem: constructor')
  })

  test('reports a mask that trains context', () => {
    const trained = { ...prompt, mask: prompt.ids.map(() => 1 as const) }
    expect(kinds(checked(of([trained, response('ok')])))).toContain('mask: the header is trained')
  })

  test('reports requests with other ids, and a template that rewrites', () => {
    const request = {
      server: 's',
      samplingParams: {},
      inputLength: prompt.ids.length - 1,
      inputHash: '',
      streamed: false,
    }
    const broken: PromptSegment = {
      ...prompt,
      derivation: {
        kind: 'continuation',
        closesTurn: false,
        check: { kind: 'broken', why: 'it drops thinking' },
      },
    }
    const found = checked(of([prompt, response('a', { request }), broken, response('b')]))
    expect(kinds(found)).toEqual(['alignment: TITO check broken', 'alignment: 1 request of another length'])
    expect(worstSeverity(found.findings)).toBe('error')
    expect(
      kinds(checked(of([prompt, response('a', { request: { ...request, inputLength: prompt.ids.length } })]))),
    ).toEqual([])
  })

  test('reports ids that were changed after they were sent', () => {
    const request = (ids: readonly number[]) => ({
      server: 's',
      samplingParams: {},
      inputLength: prompt.ids.length,
      inputHash: inputHash(ids),
      streamed: false,
    })
    expect(kinds(checked(of([prompt, response('a', { request: request(prompt.ids) })])))).toEqual([])
    const changed = checked(of([prompt, response('a', { request: request(prompt.ids.toReversed()) })]))
    expect(kinds(changed)).toEqual(['alignment: 1 request with other ids'])
    expect(changed.findings[0]?.places).toEqual([{ start: prompt.ids.length, end: prompt.ids.length + 2 }])
  })

  test('reports a prompt that does not continue the earlier tokens, because the conversation was encoded again', () => {
    const forkedFrom = { trajectory: 'first', token: 3, kind: 'rendered_again' } as const
    const { findings } = checked(of([prompt, response('a')], { forkedFrom }))
    expect(findings).toMatchObject([
      {
        kind: 'alignment',
        severity: 'error',
        count: 1,
        places: [{ start: 3, end: 4 }],
        remedy: expect.stringContaining('Compare'),
      },
    ])
    expect(checked(of([prompt, response('a')], { forkedFrom: { ...forkedFrom, kind: 'message' } })).findings).toEqual(
      [],
    )
  })

  test('reports responses that a chat endpoint wrote after other tokens', () => {
    const read = { kept: prompt.ids.length, ids: encode('other') }
    const request = (ids: readonly number[], drifts: boolean) => ({
      server: 's',
      endpoint: 'chat' as const,
      ...(drifts && { read }),
      samplingParams: {},
      inputLength: ids.length,
      inputHash: inputHash(ids),
      streamed: false,
    })
    const first = response('a', { request: request(prompt.ids, false) })
    const reported: PromptSegment = { ...prompt, derivation: { kind: 'reported' } }
    const before = [...prompt.ids, ...first.ids, ...prompt.ids]
    const exact = checked(of([prompt, first, reported, response('b', { request: request(before, false) })]))
    expect(kinds(exact)).toEqual([])
    expect(exact.checks.filter(({ unknown }) => unknown !== undefined)).toEqual([])
    const drifted = (ids: readonly number[]) =>
      kinds(checked(of([prompt, first, reported, response('b', { request: request(ids, true) })])))
    expect(drifted([...prompt.ids, ...encode('other')])).toEqual(['alignment: 1 response after different tokens'])
    expect(drifted([...prompt.ids, ...encode('OTHER')])).toEqual([
      'alignment: 1 request with other ids',
      'alignment: 1 response after different tokens',
    ])
    expect(drifted(before)).toEqual([
      'alignment: 1 request of another length',
      'alignment: 1 response after different tokens',
    ])
  })

  test('reports checks that were not possible', () => {
    const bare = { kind: 'response', ids: encode('x'), thinks: [], toolCalls: [] } as const
    const { checks, findings } = checked(
      of([prompt, bare, { ...prompt, derivation: undefined } as never, bare], {
        vocab: {},
        model: { tools: [] },
        outcome: { kind: 'ended', reason: 'unknown' },
      }),
    )
    expect(checks.flatMap(({ name, unknown }) => (unknown ? [name] : []))).toEqual([
      'token-in/token-out',
      'endings',
      'tool calls',
      'weight versions',
      'logprobs',
    ])
    expect(healthSummary({ checks, findings }).unknown[0]).toBe(
      'token-in/token-out: the file does not record how its later prompts were made',
    )
  })

  test('reports that a run which began with text or ids cannot be rendered whole', () => {
    const given: PromptSegment = { ...prompt, messages: [], derivation: { kind: 'given', what: 'ids' } }
    const further: PromptSegment = {
      ...prompt,
      derivation: { kind: 'continuation', closesTurn: false, check: { kind: 'unknown' } },
    }
    const { checks, findings } = checked(of([given, response('a'), further, response('b')]))
    expect(healthSummary({ checks, findings }).unknown).toContain(
      'token-in/token-out: the prompt was text or ids, so no template renders the whole trajectory for comparison',
    )
    expect(kinds({ checks, findings })).not.toContain('alignment: TITO check broken')
  })

  test('reports how responses and the run ended, each fact once', () => {
    const at = (finish: ResponseSegment['finish'], outcome: Trajectory['outcome']) =>
      kinds(checked(of([prompt, response('x', { ids: encode('xy'), ...(finish && { finish }) })], { outcome })))
    expect(at({ kind: 'length' }, { kind: 'ended', reason: 'length' })).toEqual([
      'truncated: 1 response cut at the token limit',
    ])
    expect(at({ kind: 'abort', message: 'm' }, { kind: 'ended', reason: 'aborted' })).toEqual([
      'truncated: 1 response interrupted',
    ])
    expect(at({ kind: 'cancelled' }, { kind: 'ended', reason: 'cancelled' })).toEqual([
      'truncated: 1 response stopped by the user',
    ])
    expect(at({ kind: 'cut', code: 'C', message: 'm' }, { kind: 'failed', code: 'C', message: 'm' })).toEqual([
      'ending: run failed: C',
      'truncated: 1 response interrupted',
    ])
    expect(at(undefined, { kind: 'ended', reason: 'context_full' })).toEqual(['ending: context full'])
    expect(at({ kind: 'unknown', raw: '"x"' }, { kind: 'running' })).toEqual(['truncated: 1 response interrupted'])
  })

  test.each([
    ['generate', { max_new_tokens: 3 }],
    ['chat', { max_completion_tokens: 3 }],
  ] as const)('reports a response with more tokens than its request over %s allowed', (endpoint, samplingParams) => {
    const request = {
      server: 's',
      ...(endpoint === 'chat' && { endpoint }),
      samplingParams,
      inputLength: prompt.ids.length,
      inputHash: '',
      streamed: false,
    }
    const { findings } = checked(of([prompt, response('ok', { request }), prompt, response('longer')]))
    expect(findings).toEqual([])
    const over = checked(of([prompt, response('four', { request })]))
    expect(over.findings).toMatchObject([
      {
        kind: 'over-limit',
        severity: 'warning',
        label: '1 response longer than max_new_tokens',
        message: 'The request allowed 3 new tokens, and the server wrote 2 more.',
        places: [{ start: prompt.ids.length + 3, end: prompt.ids.length + 5 }],
      },
    ])
    const resumed = (at: number, more: Partial<ResponseSegment> = {}) => {
      const again = { at, request: { ...request, inputLength: prompt.ids.length + at } }
      return checked(of([prompt, response('four', { request, resumed: [again], ...more })])).findings
    }
    expect(resumed(2)).toEqual([])
    expect(resumed(1)).toMatchObject([
      { kind: 'over-limit', places: [{ start: prompt.ids.length + 4, end: prompt.ids.length + 5 }] },
    ])
    expect(resumed(4, { forced: [{ start: 3, end: 4, as: 'text' }], mask: [1, 1, 1, 0, 1] })).toEqual([])
    const odd = { ...request, samplingParams: { max_new_tokens: '3', max_completion_tokens: -1 } }
    expect(checked(of([prompt, response('four', { request: odd })])).findings).toEqual([])
  })

  describe('reports an ending that two recorded facts contradict', () => {
    const request = {
      server: 's',
      samplingParams: { max_new_tokens: 50 },
      inputLength: prompt.ids.length,
      inputHash: '',
      streamed: false,
    }
    const cut: Partial<ResponseSegment> = { ids: encode('cut'), finish: { kind: 'length' }, request }
    const byLength = { kind: 'ended', reason: 'length' } as const
    const found = (change: Partial<ResponseSegment>, contextLength?: number, more: Partial<Trajectory> = {}) => {
      const trajectory = of([prompt, response('', change)], { outcome: byLength, ...more })
      const model = { ...trajectory.model, ...(contextLength !== undefined && { contextLength }) }
      return checked({ ...trajectory, model }).findings.filter(({ kind }) => kind === 'finish-contradiction')
    }

    test('as a note if the finish reason is length below the limits of request and context', () => {
      expect(found(cut, 1000)).toMatchObject([
        {
          severity: 'note',
          label: '1 response cut below the token limit',
          message:
            'The server reports that a token limit ended the response after 3 tokens, but the request allowed 50, and the context of 1,000 tokens was not full.',
          places: [{ start: prompt.ids.length + 2, end: prompt.ids.length + 3 }],
        },
      ])
    })

    test('and does not advise to raise max_new_tokens, which was not reached', () => {
      const remedies = [50, 3].map((max_new_tokens) => {
        const response1 = response('', { ...cut, request: { ...request, samplingParams: { max_new_tokens } } })
        return checked(of([prompt, response1], { outcome: byLength })).findings.find(({ kind }) => kind === 'truncated')
      })
      expect(remedies.map((finding) => finding?.remedy?.split(' ')[0])).toEqual(['Mask', 'Raise'])
    })

    test('not at all if the request’s limit or the context was reached, or one of them is unknown', () => {
      expect(found(cut)).toEqual([])
      expect(found(cut, prompt.ids.length + 3 + 2)).toEqual([])
      expect(found({ ...cut, request: { ...request, samplingParams: { max_new_tokens: 3 } } }, 1000)).toEqual([])
      expect(found({ ...cut, request: { ...request, samplingParams: {} } }, 1000)).toEqual([])
      // The server read 990 tokens for the prompt with its images.
      expect(found({ ...cut, usage: { promptTokens: 990 } }, 1000)).toEqual([])
      const resumed = [
        { at: 1, request: { ...request, samplingParams: { max_new_tokens: 2 }, inputLength: prompt.ids.length + 1 } },
      ]
      expect(found({ ...cut, resumed }, 1000)).toEqual([])
    })

    test('as a note, and not as truncation, if the last token of a response cut by length ends the turn', () => {
      const ids = [...encode('ok'), end]
      const { findings } = checked(of([prompt, response('ok', { ids, finish: { kind: 'length' } })]))
      expect(findings).toMatchObject([
        {
          kind: 'finish-contradiction',
          severity: 'note',
          label: '1 ended turn with the finish reason length',
          message: expect.stringContaining('end-of-turn token <|im_end|>'),
        },
      ])
      const ignoring = { ...request, samplingParams: { ignore_eos: true } }
      expect(found({ ids, finish: { kind: 'length' }, request: ignoring })).toEqual([])
    })

    test.each(['length', 'abort', 'cancelled'] as const)('as a warning if a run of end_turn ends with %s', (kind) => {
      const outcome = { kind: 'ended', reason: 'end_turn' } as const
      expect(found({ ids: encode('cut'), finish: { kind } }, undefined, { outcome })).toMatchObject([
        {
          severity: 'warning',
          label: `end_turn after the finish reason ${kind}`,
          message: `The run is recorded as ended by the model (end_turn), but the finish reason of its last response is ${kind}: the model did not end its turn.`,
        },
      ])
    })
  })

  test('reports a response that ends while thinking', () => {
    const open = response('<think>hm', { thinks: [{ start: 0, end: 3, closed: false }] })
    expect(kinds(checked(of([prompt, open])))).toEqual(['open-think: 1 think block not closed'])
  })

  describe('reports calls that another parser reads', () => {
    const qwen = '<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>'
    test('as an error: nothing is executed, and nothing fails', () => {
      const { findings } = checked(of([prompt, response(`${qwen} and ${qwen}`)]))
      expect(findings).toMatchObject([
        { kind: 'missed-call', severity: 'error', label: 'qwen_xml finds 2 more calls', count: 2 },
      ])
      const [{ places: [place] = [] } = {}] = findings
      expect(place).toEqual({ start: prompt.ids.length, end: prompt.ids.length + encode(qwen).length })
    })
    test('as an error too if the parser of the run reads them and the file omits them', () => {
      const hermes = '<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>'
      expect(checked(of([prompt, response(hermes)])).findings).toMatchObject([
        {
          label: 'hermes finds 1 more call',
          message: 'In 1 response hermes, the parser of the run, reads 1 call that the file does not contain.',
        },
      ])
    })
    test('only outside of think blocks, and only for known tools', () => {
      const ids = encode(qwen)
      expect(
        checked(of([prompt, response(qwen, { thinks: [{ start: 0, end: ids.length, closed: true }] })])).findings,
      ).toEqual([])
      expect(checked(of([prompt, response(qwen.replace('add', 'other'))])).findings).toEqual([])
    })
    test('not at all if as many calls were read', () => {
      const hermes = '<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>'
      const own = {
        kind: 'parsed',
        id: 'call_0000',
        name: 'add',
        input: {},
        arguments: [],
        raw: '',
        span: { start: 0, end: encode(hermes).length },
        text: { start: 0, end: hermes.length },
      } as const
      expect(checked(of([prompt, response(hermes, { toolCalls: [own] })])).findings).toEqual([])
      expect(kinds(checked(of([prompt, response(`${hermes}${qwen}`, { toolCalls: [own] })])))).toEqual([])
    })
  })

  test('reports markup that only a parser of SGLang reads as an error that names it, outside of think blocks', () => {
    const foreign = '<rfl:parameter name="a">1</rfl:parameter>'
    const { findings } = checked(of([prompt, response(`So: ${foreign}`)]))
    expect(findings).toMatchObject([
      { kind: 'missed-call', severity: 'error', label: 'SGLang’s beam finds calls in 1 response' },
    ])
    const start = prompt.ids.length + 'So: '.length
    expect(findings[0]?.places).toEqual([{ start, end: start + '<rfl:parameter'.length }])
    const thinks = [{ start: 0, end: encode(foreign).length, closed: true }]
    expect(checked(of([prompt, response(foreign, { thinks })])).findings).toEqual([])
  })

  test('reports other weights, in one response and between two', () => {
    const mixed = response('abc', {
      weightVersions: [
        { version: '1', start: 0, end: 2 },
        { version: '2', start: 2, end: 4 },
      ],
    })
    expect(checked(of([prompt, mixed])).findings).toMatchObject([
      { kind: 'weights', label: '2 weight versions within a response', places: [{ start: prompt.ids.length + 2 }] },
    ])
    const later = response('b', { weightVersions: [{ version: '2', start: 0, end: 2 }] })
    expect(kinds(checked(of([prompt, response('a'), later])))).toEqual(['weights: 2 weight versions'])
  })

  test('reports logprobs that were never measured', () => {
    const zeros = response('abcd', { logprobs: [0, 0, 0, 0, 0] })
    expect(kinds(checked(of([{ ...prompt, logprobs: prompt.ids.map(() => 0) }, zeros])))).toEqual([
      'placeholder: logprobs are all 0',
      'placeholder: context logprobs are placeholders',
    ])
  })

  test('offers the repairs of an imported file, and none for a run', () => {
    const zeros = response('abcd', { logprobs: [0, 0, 0, 0, 0] })
    const padding: PromptSegment = { kind: 'prompt', ids: new Array(9).fill(prompt.ids[0]), messages: [] }
    const segments = [{ ...prompt, logprobs: prompt.ids.map(() => 0) }, zeros, padding]
    const provenance = { kind: 'import', format: 'verl', lacked: [] } as const
    const offers = (trajectory: Trajectory) =>
      checked(trajectory).findings.flatMap(({ label, repair }) => (repair ? [[label, repair.name]] : []))
    expect(offers(of(segments, { provenance, vocab: {}, model: { tools: [] } }))).toEqual([
      ['logprobs are all 0', 'zero-logprobs-trained'],
      ['9 padding tokens', 'trailing-padding'],
      ['context logprobs are placeholders', 'zero-logprobs-context'],
    ])
    expect(offers(of(segments, { vocab: {}, model: { tools: [] } }))).toEqual([])
    const [found] = checked(of([response('a'), padding], { vocab: {}, model: { tools: [] } })).findings.filter(
      ({ label }) => label === '9 padding tokens',
    )
    expect(found?.places).toEqual([{ start: 2, end: 11 }])
  })
})

describe('drift health', () => {
  const spelled = of([prompt, { ...response(''), ids: [...Buffer.from('<think>'), end] }])

  test('is empty for the tokenizer’s own encoding', () => {
    const drift = textDrift(of([prompt, response('ok')]), byteTokenizer)
    expect(drift).toMatchObject({ kind: 'known', trained: 0, tokens: 0, others: 0 })
    expect(withDrift(checked(of([prompt, response('ok')])), drift)).toMatchObject({ findings: [] })
  })

  test('names the tokens that come back as others', () => {
    const start = prompt.ids.length
    const drift = textDrift(pack(spelled).trajectory, byteTokenizer)
    expect(drift).toEqual({
      kind: 'known',
      ranges: Int32Array.of(start, start + 7),
      trained: 1,
      otherBytes: 0,
      tokens: 7,
      others: 1,
    })
    const { findings, checks } = withDrift(checked(spelled), drift)
    expect(findings.at(-1)).toMatchObject({
      kind: 'drift',
      severity: 'note',
      label: 'drift 1 span',
      message: 'Encoding the text again gives 1 token instead of 7. Every span contains trained tokens.',
    })
    expect(checks.at(-1)).toEqual({ name: 'drift' })
  })

  test('in context only affects rescoring, and bytes that are not a character are reported separately', () => {
    const odd = of([{ ...prompt, ids: [0xff, ...prompt.ids] }, response('ok')])
    const drift = textDrift(odd, byteTokenizer)
    expect(drift).toMatchObject({ trained: 0, otherBytes: 1 })
    expect(withDrift(checked(odd), drift).findings.at(-1)).toMatchObject({
      severity: 'warning',
      places: [{ start: 0, end: 1 }],
    })
  })

  test('counts as many spans as the corpus report for the same text', () => {
    for (const name of ['two-steps', 'parallel-calls', 'retokenization-drift', 'tool-error']) {
      const trajectory = exampleTrajectory(name)
      const drift = textDrift(trajectory, tiny.tokenizer)
      const place = { kind: 'stored', key: name } as const
      const sample = checkSample(place, { as: { kind: 'text' }, trajectory, tokenizer: tiny, template: undefined })
      if (drift.kind === 'unknown' || sample.kind === 'unchecked') throw new Error('an example is compared')
      const counted = sample.kinds.reduce((sum, { spans }) => sum + spans.trained + spans.context, 0)
      expect([name, drift.ranges.length / 2]).toEqual([name, counted])
      expect(withDrift(checked(trajectory), drift).findings.some(({ kind }) => kind === 'drift')).toBe(
        countsAsDrift(sample.severity),
      )
    }
  })

  test('of added tokens is reported at the following token, and not at all after the last trained token', () => {
    const adding = (at: 'first' | 'last' | 'nowhere') => ({
      ...byteTokenizer,
      encode: (text: string) => [...(at === 'first' ? [120] : []), ...encode(text), ...(at === 'last' ? [120] : [])],
    })
    const ranges = (at: 'first' | 'last' | 'nowhere') => {
      const drift = textDrift(spelled, { ...adding(at) })
      return drift.kind === 'known' ? [...drift.ranges] : []
    }
    expect(ranges('first').slice(0, 2)).toEqual([0, 1])
    expect(ranges('last')).toEqual(ranges('nowhere'))
  })

  describe('compares the piece texts of a file:', () => {
    const recorded = of([prompt, response('ok')])
    const own: Trajectory = {
      ...recorded,
      model: {
        ...recorded.model,
        tokenizer: { name: 'bytes', specialIds: [end], fingerprint: byteTokenizer.fingerprint ?? '' },
      },
    }
    const [o, k] = encode('ok') as [number, number]
    const drifted = (trajectory: Trajectory, tokenizer = byteTokenizer) =>
      withDrift(checked(trajectory), textDrift(trajectory, tokenizer))

    test('texts of the tokenizer are no finding', () => {
      expect(drifted(own).findings).toEqual([])
    })

    test('texts that contradict the tokenizer of their fingerprint are an error, which comes first', () => {
      const { findings } = drifted({
        ...own,
        vocab: { ...own.vocab, [o]: 'x'.repeat(50), [k]: { hex: 'ff' }, 255: 'y' },
      })
      expect(findings[0]).toMatchObject({
        kind: 'pieces',
        severity: 'error',
        label: '3 ids with another text',
        message: expect.stringContaining('the tokenizer of its fingerprint "k"'),
        places: [
          { start: prompt.ids.length, end: prompt.ids.length + 1 },
          { start: prompt.ids.length + 1, end: prompt.ids.length + 2 },
        ],
      })
    })

    test('texts are not compared if the file names no fingerprint', () => {
      expect(drifted({ ...recorded, vocab: { ...recorded.vocab, [o]: 'x' } }).findings).toEqual([])
    })
  })

  test('is unknown without the recorded tokenizer', () => {
    expect(driftTokenizer({ ...spelled, model: { tools: [] } })).toEqual({ why: 'the file names no tokenizer' })
    const { tokenizer } = spelled.model
    const server = { tools: [], tokenizer: { name: 'x', specialIds: [], source: 'server' } } as const
    expect(driftTokenizer({ ...spelled, model: server })).toHaveProperty('why')
    expect(driftTokenizer(spelled)).toEqual({ name: 'bytes' })
    const encodedAgain = { tokenizer: 'bytes', template: true, mask: 'replies' }
    const provenance = { kind: 'import', format: 'chat', lacked: [], encodedAgain } as const
    expect(driftTokenizer({ ...spelled, provenance })).toEqual({ why: expect.stringContaining('re-encoded') })
    const other = {
      ...spelled,
      model: { ...spelled.model, tokenizer: { ...tokenizer, fingerprint: 'f' } },
    } as Trajectory
    expect(textDrift(other, byteTokenizer)).toMatchObject({ kind: 'unknown' })
    expect(textDrift({ ...spelled, segments: [{ ...prompt, ids: [9999] }] }, byteTokenizer)).toEqual({
      kind: 'unknown',
      why: 'the tokenizer bytes has no id 9999',
    })
    const unknown = runToEnd(driftTask(undefined, spelled, []))
    expect(withDrift(checked(spelled), unknown).checks.at(-1)).toEqual({
      name: 'drift',
      unknown: 'no tokenizer is chosen',
    })
    expect(
      runToEnd(driftTask(undefined, spelled, [{ tokenizer: byteTokenizer, compile: () => undefined as never }])),
    ).toMatchObject({
      kind: 'known',
    })
  })
})
