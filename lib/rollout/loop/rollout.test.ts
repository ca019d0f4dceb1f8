import { describe, expect, test } from 'vitest'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { Chunk } from '#lib/engine/reply.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import { createFold } from '#lib/trajectory/events/fold.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import {
  bytes,
  call,
  drawMask,
  END,
  empty,
  endedOutcome,
  failAfterText,
  type Options,
  runScripted,
  type Script,
  says,
  stop,
  user,
} from '#testing/scripted-rollout.ts'
import { startScriptedRouter } from '#testing/sglang/router.ts'
import { chatml } from '#testing/small-templates.ts'
import { calculator } from '../tools/calculator.ts'
import type { AgentTool } from '../tools/tool.ts'

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)
const failed = (code: string) => ({ kind: 'failed', code })

describe('a rollout', () => {
  test('calls the tool, reads its result and answers', async () => {
    const { trajectory, requests } = await runScripted({
      scripts: [call('calculator', { expression: '25 * 17' }), '425'],
    })
    expect(drawMask(trajectory)).toBe(
      '(user q) [<tool_call>{"name":"calculator","arguments":{"expression":"25 * 17"}}</tool_call>] (tool 425) [425]',
    )
    expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(requests).toHaveLength(2)
    expect(requests[1]?.inputIds.slice(0, requests[0]?.inputIds.length)).toEqual(requests[0]?.inputIds)
    expect(ids(trajectory).slice(0, requests[1]?.inputIds.length)).toEqual(requests[1]?.inputIds)
    expect(lossMask(trajectory).filter((bit) => bit === 1)).toHaveLength(
      sum(trajectory.segments.filter(({ kind }) => kind === 'response').map((segment) => segment.ids.length)),
    )
  })

  test('runs parallel calls, and the model reads their results in the order of the calls', async () => {
    const slow: AgentTool = {
      spec: { name: 'wait', inputSchema: { type: 'object', properties: {} } },
      run: ({ ms }) => new Promise((resolve) => setTimeout(() => resolve(`waited ${ms}`), Number(ms))),
    }
    const { trajectory, events } = await runScripted({
      scripts: [call('wait', { ms: 40 }) + call('wait', { ms: 1 }), 'ok'],
      tools: [slow],
    })
    expect(drawMask(trajectory)).toContain('(tool waited 40 tool waited 1)')
    expect(events.flatMap((event) => (event.type === 'tool-ended' ? [event.callId] : []))).toEqual([
      'call_0001',
      'call_0000',
    ])
  })

  test('passes a tool error to the model', async () => {
    const { trajectory } = await runScripted({ scripts: [call('calculator', { expression: '1 / 0' }), 'sorry'] })
    expect(drawMask(trajectory)).toContain('(tool Error: division by zero)')
    expect(trajectory.segments[1]).toMatchObject({
      toolCalls: [{ result: { status: 'error', text: 'Error: division by zero' } }],
    })
  })

  test('never executes a malformed call; the model reads why', async () => {
    let runs = 0
    const counting: AgentTool = { ...calculator, run: () => String(++runs) }
    const { trajectory, events } = await runScripted({
      scripts: ['<tool_call>{"name": "calculator", "arguments": {"expression": }}</tool_call>', 'sorry'],
      tools: [counting],
    })
    expect(runs).toBe(0)
    expect(drawMask(trajectory)).toContain(
      '(tool Error: malformed tool call: "}" where a JSON value is expected. It was not executed.)',
    )
    expect(events.filter(({ type }) => type === 'tool-started')).toEqual([])
  })

  test('never executes a call without a readable name or with an unknown tool', async () => {
    const { trajectory } = await runScripted({ scripts: ['<tool_call>what</tool_call>', call('search', {}), 'sorry'] })
    expect(drawMask(trajectory)).toContain('(tool Error: malformed tool call: the call is not a JSON object')
    expect(drawMask(trajectory)).toContain('(tool Unknown tool: search)')
  })

  test('requests logprobs from one position before the new tokens', async () => {
    const { requests } = await runScripted({ scripts: [call('calculator', { expression: '1' }), '1'] })
    const first = requests[0]?.inputIds.length ?? 0
    const reply = bytes(call('calculator', { expression: '1' })).length + 1
    expect(requests.map(({ logprobStartLen }) => logprobStartLen)).toEqual([0, first + reply - 1])
  })

  test('uses the template options of the trajectory in every turn', async () => {
    const options = { enable_thinking: false }
    const on = { ...empty, model: { ...empty.model, template: { text: chatml, options } } }
    const { trajectory } = await runScripted({ scripts: ['a'], on })
    const again = await runScripted({ scripts: ['b'], on: trajectory, messages: [user('more')] })
    const ends = again.requests.map(({ inputIds }) => textOf(inputIds.slice(-40), again.trajectory.vocab))
    expect(ends).toEqual([expect.stringMatching(/<think>\n\n<\/think>\n\n$/)])
    expect(textOf(trajectory.segments[0]?.ids ?? [], trajectory.vocab)).toMatch(/<think>\n\n<\/think>\n\n$/)
  })

  test('requests the chosen number of alternatives', async () => {
    const { requests } = await runScripted({ scripts: ['a'], settings: { topLogprobs: 7 } })
    expect(requests.map(({ topLogprobsNum }) => topLogprobsNum)).toEqual([7])
  })

  test('stores prompt logprobs at the new tokens', async () => {
    const scored: Script = async function* (request) {
      const start = request.logprobStartLen ?? 0
      const logprobs = request.inputIds.slice(start).map((_, i) => (i === 0 ? null : -(start + i)))
      yield {
        prompt: { logprobs, problems: [] },
        tokens: { ids: [65, END], logprobs: [-1, -1] },
        problems: [],
        end: stop(2),
      }
    }
    const { trajectory } = await runScripted({ scripts: [scored] })
    const again = await runScripted({ scripts: [scored], on: trajectory, messages: [user('r')] })
    const starts = [0, again.trajectory.segments[0]?.ids.length ?? 0].map((length, i) => (i === 0 ? 0 : length + 2))
    expect(again.trajectory.segments[0]?.logprobs?.slice(0, 3)).toEqual([null, -1, -2])
    expect(again.trajectory.segments[2]?.logprobs?.[0]).toBe(-(starts[1] ?? 0))
    expect(again.trajectory.segments[2]?.logprobs).toHaveLength(again.trajectory.segments[2]?.ids.length ?? -1)
  })
})

describe('a reply is requested', () => {
  const asked = async (options: Omit<Options, 'scripts'>) => {
    const { trajectory, requests } = await runScripted({ scripts: ['ok'], ...options })
    const response = trajectory.segments[1]
    if (response?.kind !== 'response') throw new Error('there is a response')
    return { request: requests[0], record: response.request }
  }

  test('in small steps from a server that sends only new tokens, with the prompt scored separately', async () => {
    const { request, record } = await asked({})
    expect(request).toMatchObject({ stream: true, streamInterval: 16, logprobStartLen: 0 })
    expect(request?.scoringRid).toHaveLength(32)
    expect(record).toMatchObject({ streamed: true, streamInterval: 16, logprobStartLen: 0 })
  })

  test('in large steps from a server that repeats everything', async () => {
    const server = { kind: 'server', incrementalStreaming: false } as const
    const { request, record } = await asked({ server, settings: { sampling: { max_new_tokens: 16_384 } } })
    expect([request?.stream, request?.streamInterval, record?.streamInterval]).toEqual([true, 512, 512])
  })

  test.each([
    [
      'where the reply may become too long for a router, which drops the interval',
      { server: { kind: 'router' }, settings: { sampling: { max_new_tokens: 8192 } } },
    ],
    ['where it is switched off', { settings: { stream: false } }],
  ] as const)('as a whole, with the prompt’s logprobs, %s', async (_what, options) => {
    const { request, record } = await asked(options)
    expect(request).toMatchObject({ stream: false, logprobStartLen: 0 })
    expect(request).not.toHaveProperty('scoringRid')
    expect(request).not.toHaveProperty('streamInterval')
    expect(record).toMatchObject({ streamed: false, logprobStartLen: 0 })
    expect(record).not.toHaveProperty('streamInterval')
  })

  test('token by token through a router, without an interval', async () => {
    const { request, record } = await asked({ server: { kind: 'router' } })
    expect([request?.stream, record?.streamed]).toEqual([true, true])
    expect(request).not.toHaveProperty('streamInterval')
    expect(request?.scoringRid).toHaveLength(32)
  })

  test('without scores if none were chosen', async () => {
    const { request } = await asked({ settings: { promptLogprobs: false } })
    expect(request).not.toHaveProperty('scoringRid')
    expect(request).not.toHaveProperty('logprobStartLen')
  })

  test('after a recorded call that scored the prompt', async () => {
    const scoring = { rid: 's'.repeat(32), elapsedMs: 3, cachedTokens: 7 }
    const reply: Script = async function* (request) {
      const logprobs = request.inputIds.map((_, i) => (i === 0 ? null : -i))
      yield { prompt: { logprobs, problems: [] }, scoring, tokens: { ids: [END], logprobs: [-1] }, problems: [] }
      yield { tokens: { ids: [] }, problems: [], end: stop(1) }
    }
    const { trajectory } = await runScripted({ scripts: [reply] })
    expect(trajectory.segments[1]).toMatchObject({ request: { scoring } })
    expect(trajectory.segments[0]?.logprobs?.slice(0, 2)).toEqual([null, -1])
  })

  test('with a report if the prompt’s logprobs did not arrive', async () => {
    const reply: Script = async function* () {
      const problems = [{ kind: 'missing', message: 'none' }]
      const tokens = { ids: [END], logprobs: [-1] }
      yield { prompt: { logprobs: [], problems }, tokens, problems: [], end: stop(1) }
    }
    const { trajectory } = await runScripted({ scripts: [reply] })
    expect(trajectory.segments[0]?.problems).toEqual([{ kind: 'missing', message: 'none' }])
    expect(trajectory.segments[0]).not.toHaveProperty('logprobs')
  })

  test('with every note of a whole reply, also if there are many', async () => {
    const problems = Array.from({ length: 200_000 }, () => ({ kind: 'missing', message: 'none' }))
    const reply: Script = async function* () {
      yield { tokens: { ids: [END], logprobs: [-1] }, problems, end: stop(1) }
    }
    const { trajectory } = await runScripted({ scripts: [reply] })
    expect(trajectory.segments[1]?.problems).toHaveLength(problems.length)
  })

  test('with a note on parameters that a router drops', async () => {
    const { trajectory } = await runScripted({
      scripts: ['ok'],
      server: { kind: 'router' },
      settings: { sampling: { max_new_tokens: 9, logit_bias: { 65: 2 } } },
    })
    expect(trajectory.segments[1]?.problems).toMatchObject([{ kind: 'router', column: 'logit_bias' }])
  })
})

describe('a further turn', () => {
  test('continues on the same tokens', async () => {
    const { trajectory } = await runScripted({ scripts: ['hello'] })
    const again = await runScripted({ scripts: ['bye'], on: trajectory, messages: [user('more')] })
    expect(ids(again.trajectory).slice(0, ids(trajectory).length)).toEqual(ids(trajectory))
    expect(drawMask(again.trajectory)).toBe('(user q) [hello] (user more) [bye]')
    expect(conversation(again.trajectory).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })

  test('passes unread results to the model first', async () => {
    const { trajectory } = await runScripted({
      scripts: [call('calculator', { expression: '2' })],
      settings: { limits: { maxToolIterations: 1 } },
    })
    expect(trajectory.outcome).toEqual(endedOutcome('max_tool_iterations'))
    const again = await runScripted({ scripts: ['ok'], on: trajectory, messages: [user('and?')] })
    expect(drawMask(again.trajectory)).toContain('(tool 2 user and?) [ok]')
    const alone = await runScripted({ scripts: ['ok'], on: trajectory, messages: [] })
    expect(drawMask(alone.trajectory)).toContain('(tool 2) [ok]')
  })
})

describe('a run limit ends a run by name:', () => {
  const endless = call('calculator', { expression: '1' })
  test.each([
    ['maxToolIterations', 2, 'max_tool_iterations', 2],
    ['maxToolCalls', 3, 'max_tool_calls', 3],
    ['maxMessages', 5, 'max_messages', 2],
    ['maxMessages', 1, 'max_messages', 0],
  ])('%s %d', async (limit, value, reason, calls) => {
    const { trajectory, requests } = await runScripted({
      scripts: [endless, endless, endless, endless, endless],
      settings: { limits: { [limit]: value } },
    })
    expect(trajectory.outcome).toMatchObject(endedOutcome(reason))
    expect(requests).toHaveLength(calls)
  })

  test('calls beyond the parallel limit get an error result, and the run continues', async () => {
    const { trajectory } = await runScripted({
      scripts: [endless + endless + endless, 'ok'],
      settings: { limits: { maxParallelToolCalls: 2 } },
    })
    expect(drawMask(trajectory)).toContain(
      '(tool 1 tool 1 tool Max parallel tool calls (2) reached. This tool call was not executed.)',
    )
    expect(trajectory.outcome).toEqual(endedOutcome('end_turn'))
  })

  test('maxTokens and the context lower max_new_tokens, and the outcome names which of them', async () => {
    const long: Script = async function* ({ sampling }) {
      const n = sampling.max_new_tokens ?? 0
      yield {
        tokens: { ids: Array.from({ length: n }, () => 65) },
        problems: [],
        end: { finish: { kind: 'length' }, usage: {} },
      }
    }
    const limited = await runScripted({ scripts: [long], settings: { limits: { maxTokens: 40 } } })
    expect([limited.trajectory.outcome, ids(limited.trajectory).length]).toEqual([endedOutcome('max_tokens'), 40])
    const small = { ...empty, model: { ...empty.model, contextLength: 50 } }
    const full = await runScripted({ scripts: [long], on: small })
    expect([full.trajectory.outcome, ids(full.trajectory).length]).toEqual([
      { ...endedOutcome('context_full'), context: { holds: 50 } },
      50,
    ])
    const asked = await runScripted({ scripts: [long], on: small, settings: { sampling: { max_new_tokens: 3 } } })
    expect(asked.trajectory.outcome).toEqual(endedOutcome('length'))
  })

  test('a prompt that does not fit is not sent, and is given back', async () => {
    const { trajectory, requests } = await runScripted({
      scripts: [],
      on: { ...empty, model: { ...empty.model, contextLength: 10 } },
    })
    expect(requests).toEqual([])
    expect(trajectory).toMatchObject({
      segments: [],
      outcome: {
        kind: 'ended',
        reason: 'context_full',
        unsent: [user('q')],
        context: { needed: bytes('<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n').length + 1000, holds: 10 },
      },
    })
  })

  test('a call that was cut by its length is not executed', async () => {
    const { trajectory } = await runScripted({
      scripts: [() => says(endless, { finish: { kind: 'length' }, usage: {} })],
    })
    expect(trajectory.outcome).toEqual(endedOutcome('length'))
    expect(trajectory.segments[1]).toMatchObject({ toolCalls: [{ kind: 'parsed', name: 'calculator' }] })
    expect(trajectory.segments[1]).not.toHaveProperty('toolCalls[0].result')
  })
})

describe('a failure', () => {
  const refused = new EngineError('CONNECT_REFUSED', 'nothing listens')

  test('before the first token leaves no trace, and returns the messages', async () => {
    const { trajectory, events } = await runScripted({ scripts: [failAfterText('', refused)] })
    expect(trajectory).toMatchObject({
      segments: [],
      outcome: { ...failed('CONNECT_REFUSED'), hint: expect.any(String), unsent: [user('q')] },
    })
    expect(trajectory).not.toHaveProperty('live')
    expect(events.map(({ type }) => type)).toEqual(['started', 'segment-started', 'retracted', 'ended'])
  })

  test('of the process before the call leaves the messages in the first event, and they move to the prompt', async () => {
    const { events } = await runScripted({ scripts: [() => says('a', { finish: { kind: 'stop' }, usage: {} })] })
    const outcomes: unknown[] = []
    const fold = createFold()
    for (const event of events) {
      fold.add(event)
      outcomes.push(fold.trajectory?.outcome)
    }
    const running = { kind: 'running', rolloutId: expect.any(String) }
    expect(outcomes.slice(0, 2)).toEqual([{ ...running, unsent: [user('q')] }, running])
  })

  test('after the first token keeps the received tokens', async () => {
    const { trajectory } = await runScripted({
      scripts: [failAfterText('half an ans', new EngineError('UPSTREAM_TRUNCATED', 'broke'))],
    })
    expect(drawMask(trajectory)).toBe('(user q) [half an ans]')
    expect(trajectory).toMatchObject({
      outcome: failed('UPSTREAM_TRUNCATED'),
      segments: [{}, { finish: { kind: 'cut', code: 'UPSTREAM_TRUNCATED' } }],
    })
  })

  test('in a later turn keeps the earlier turns', async () => {
    const { trajectory } = await runScripted({
      scripts: [call('calculator', { expression: '2' }), failAfterText('', refused)],
    })
    expect(drawMask(trajectory)).toMatch(/^\(user q\) \[.*\]$/)
    expect(trajectory.outcome).not.toHaveProperty('unsent')
    const again = await runScripted({ scripts: ['2'], on: trajectory, messages: [] })
    expect(drawMask(again.trajectory)).toContain('(tool 2) [2]')
  })

  test('of a context that only the server knows is context_full', async () => {
    const counts = { needed: 4190, holds: 4096 }
    const overflow = new EngineError('CONTEXT_LENGTH', 'too long', { context: counts })
    const { trajectory } = await runScripted({ scripts: [failAfterText('', overflow)] })
    expect(trajectory.outcome).toMatchObject({ ...endedOutcome('context_full'), context: counts, unsent: [user('q')] })
  })

  test('by an abort of the server keeps its tokens; an abort in the queue leaves nothing', async () => {
    const aborted = { finish: { kind: 'abort' } as const, usage: {} }
    const partial = await runScripted({ scripts: [() => says('half', aborted)] })
    expect([drawMask(partial.trajectory), partial.trajectory.outcome]).toEqual([
      '(user q) [half]',
      endedOutcome('aborted'),
    ])
    const queued: Script = async function* () {
      yield { tokens: { ids: [] }, problems: [], end: aborted }
    }
    expect((await runScripted({ scripts: [queued] })).trajectory).toMatchObject({
      segments: [],
      outcome: { ...endedOutcome('aborted'), unsent: [user('q')] },
    })
  })

  test('with an unknown finish reason is reported with that reason', async () => {
    const odd = await runScripted({
      scripts: [() => says('x', { finish: { kind: 'unknown', raw: '{"type":"solar"}' }, usage: {} })],
    })
    expect(odd.trajectory.outcome).toMatchObject({
      ...failed('UNKNOWN_FINISH'),
      message: expect.stringContaining('solar'),
    })
  })

  test('of a template that cannot render is reported', async () => {
    const { trajectory } = await runScripted({ scripts: [], template: "{{ raise_exception('no user query') }}" })
    expect(trajectory).toMatchObject({
      segments: [],
      outcome: { ...failed('TEMPLATE_ERROR'), message: expect.stringContaining('no user query'), unsent: [user('q')] },
    })
  })

  test('of messages that are too long for a render says how to shorten them', async () => {
    const { trajectory } = await runScripted({ scripts: [], template: "{{ 'a' * 9000000 }}" })
    expect(trajectory.outcome).toMatchObject({
      ...failed('TEMPLATE_ERROR'),
      message: expect.stringContaining('longer than 8000000 characters'),
      hint: 'Shorten the messages, and results of tools with the limit “result characters”; or choose a simpler template.',
    })
  })
})

describe('stop', () => {
  const hanging: Script = async function* (_request, signal) {
    yield { tokens: { ids: bytes('so far'), logprobs: bytes('so far').map(() => -1) }, problems: [] }
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }

  test('in mid-reply keeps the tokens and ends the call', async () => {
    const controller = new AbortController()
    const { trajectory } = await runScripted({
      scripts: [hanging],
      signal: controller.signal,
      onEvent: (event) => event.type === 'tokens' && controller.abort(),
    })
    expect([drawMask(trajectory), trajectory.outcome]).toEqual(['(user q) [so far]', endedOutcome('cancelled')])
    expect(trajectory.segments[1]).toMatchObject({ finish: { kind: 'cancelled' } })
    const again = await runScripted({ scripts: ['ok'], on: trajectory, messages: [user('go on')] })
    expect(textOf(ids(again.trajectory), again.trajectory.vocab)).toContain('so far<|im_end|>\n<|im_start|>user\ngo on')
  })

  describe('and resume', () => {
    const half = '<tool_call>{"name": "calculator", "arg'
    const rest = 'uments": {"expression": "2 + 3"}}</tool_call>'
    const stopped = async (text = half) =>
      (await runScripted({ scripts: [failAfterText(text, new EngineError('UPSTREAM_TRUNCATED', 'broke'))] })).trajectory

    test('sends the prompt and the kept ids, and the new tokens join the same response, which is parsed as a whole', async () => {
      const kept = await stopped()
      const { trajectory, requests } = await runScripted({ scripts: [rest, '5'], on: kept, resumes: true })
      expect(drawMask(trajectory)).toBe(`(user q) [${half}${rest}] (tool 5) [5]`)
      expect(requests[0]?.inputIds).toEqual(ids(kept))
      expect(requests[1]?.inputIds).toEqual(ids({ ...trajectory, segments: trajectory.segments.slice(0, 3) }))
      const [, before] = kept.segments
      const [, after] = trajectory.segments
      expect(after?.ids).toEqual([...(before?.ids ?? []), ...bytes(rest), END])
      expect(after?.logprobs?.slice(0, before?.ids.length)).toEqual(before?.logprobs)
      expect(lossMask({ ...trajectory, segments: trajectory.segments.slice(1, 2) })).not.toContain(0)
      expect(after).toMatchObject({
        finish: { kind: 'stop' },
        toolCalls: [{ name: 'calculator', result: { status: 'success', text: '5' } }],
        request: { inputLength: kept.segments[0]?.ids.length },
        resumed: [
          {
            at: before?.ids.length,
            stopped: { kind: 'cut' },
            request: { inputLength: ids(kept).length, inputHash: inputHash(ids(kept)) },
            usage: { completionTokens: rest.length + 1 },
          },
        ],
      })
      expect(after).toHaveProperty('timing', (before as ResponseSegment).timing)
    })

    test('a run that began with ids is resumed without a message to answer', async () => {
      const ownPrompt = { ids: bytes('2 + 2 ='), derivation: { kind: 'given', what: 'ids' }, problems: [] } as const
      const { trajectory: first } = await runScripted({
        scripts: [failAfterText(' f', new EngineError('UPSTREAM_TRUNCATED', 'broke'))],
        prompt: ownPrompt,
        messages: [],
        tools: [],
      })
      const { trajectory } = await runScripted({ scripts: ['our'], on: first, resumes: true, tools: [] })
      expect([drawMask(trajectory), trajectory.outcome]).toEqual(['(2 + 2 =) [four]', endedOutcome('end_turn')])
    })

    test('combines the server’s text, weight versions and problems over the whole response', async () => {
      const kept = await stopped('half')
      const odd = { kind: 'number', message: 'NaN', column: 'logprobs', index: 0 }
      const { trajectory } = await runScripted({
        scripts: [
          async function* () {
            yield {
              tokens: { ids: bytes('ly'), logprobs: [null, -1] },
              problems: [odd],
              end: {
                finish: { kind: 'length' },
                usage: {},
                text: 'ly',
                weightVersions: [{ version: '2', start: 0, end: 2 }],
              },
            }
          },
        ],
        on: kept,
        resumes: true,
      })
      expect(trajectory.segments[1]).toMatchObject({
        problems: [{ ...odd, index: 4 }],
        weightVersions: [{ version: '2', start: 4, end: 6 }],
        logprobs: [-0.5, -0.5, -0.5, -0.5, null, -1],
      })
    })

    test('leaves the response unchanged if it fails before its first token', async () => {
      const kept = await stopped()
      const { trajectory, events } = await runScripted({
        scripts: [failAfterText('', new EngineError('CONNECT_REFUSED', 'nothing listens'))],
        on: kept,
        resumes: true,
      })
      expect(trajectory).toEqual({
        ...kept,
        outcome: { ...failed('CONNECT_REFUSED'), message: expect.anything(), hint: expect.anything() },
      })
      expect(events.map(({ type }) => type)).toEqual(['started', 'resumed', 'retracted', 'ended'])
    })

    test('can be repeated after another stop', async () => {
      const kept = await stopped('one ')
      const { trajectory: second } = await runScripted({
        scripts: [failAfterText('two ', new EngineError('UPSTREAM_TRUNCATED', 'broke'))],
        on: kept,
        resumes: true,
      })
      const { trajectory } = await runScripted({ scripts: ['three'], on: second, resumes: true })
      expect(drawMask(trajectory)).toBe('(user q) [one two three]')
      expect(trajectory.segments[1]).toMatchObject({ resumed: [{ at: 4 }, { at: 8, stopped: { kind: 'cut' } }] })
    })

    test('counts the calls of the resumed response towards the limits', async () => {
      const { trajectory } = await runScripted({
        scripts: [rest],
        on: await stopped(),
        resumes: true,
        settings: { limits: { maxToolIterations: 1, maxMessages: 2 } },
      })
      expect(trajectory.outcome).toEqual(endedOutcome('max_tool_iterations'))
    })
  })

  test('through a router, which has no /abort_request, keeps the tokens and does not stop the worker', async () => {
    const so = bytes('so far')
    const model = { model_path: 'tiny', served_model_name: 'tiny', tokenizer_path: 'tiny' }
    const router = await startScriptedRouter([
      { model, ids: so },
      { model, ids: so },
    ])
    const client = createClient({ baseUrl: router.baseUrl, apiKey: undefined })
    try {
      const controller = new AbortController()
      let arrived = 0
      const { trajectory } = await runScripted({
        scripts: [(request, signal) => client.generate(request, signal)],
        settings: { promptLogprobs: false, sampling: { max_new_tokens: 1024 } },
        server: await client.describe(controller.signal),
        signal: controller.signal,
        onEvent(event) {
          if (event.type === 'tokens') arrived += event.ids.length
          if (arrived === so.length) controller.abort()
        },
      })
      await router.left
      expect([drawMask(trajectory), trajectory.outcome]).toEqual(['(user q) [so far]', endedOutcome('cancelled')])
      expect(trajectory.segments[1]).toMatchObject({ finish: { kind: 'cancelled' }, logprobs: so.map(() => -0.5) })
      expect(router.sampling).toMatchObject([{ max_new_tokens: 1024 }])
      expect(router.requests.filter((line) => line.includes('abort'))).toEqual([])
    } finally {
      await client.close()
      await router.close()
    }
  })

  test('before the first token leaves nothing', async () => {
    const controller = new AbortController()
    const silent: Script = async function* (_request, signal) {
      controller.abort()
      await new Promise((_, reject) => (signal.aborted ? reject(signal.reason) : undefined))
    }
    const { trajectory } = await runScripted({ scripts: [silent], signal: controller.signal })
    expect(trajectory).toMatchObject({ segments: [], outcome: { ...endedOutcome('cancelled'), unsent: [user('q')] } })
  })

  test('while a tool runs gives its call a result that reports it', async () => {
    const controller = new AbortController()
    const patient: AgentTool = {
      spec: { name: 'wait', inputSchema: { type: 'object', properties: {} } },
      run: (_input, { signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    }
    const { trajectory } = await runScripted({
      scripts: [call('wait', {})],
      tools: [patient],
      signal: controller.signal,
      onEvent: (event) => event.type === 'tool-started' && controller.abort(),
    })
    expect(trajectory.outcome).toEqual(endedOutcome('cancelled'))
    expect(trajectory.segments[1]).toMatchObject({
      toolCalls: [
        { result: { status: 'cancelled', text: 'Error: the run was stopped before this call was finished.' } },
      ],
    })
    const again = await runScripted({ scripts: ['ok'], on: trajectory, messages: [user('why?')] })
    expect(drawMask(again.trajectory)).toContain(
      '(tool Error: the run was stopped before this call was finished. user why?)',
    )
  })

  test('a reader that closes the stream stops the generation', async () => {
    let reason: unknown
    const watched: Script = async function* (_request, signal) {
      signal.addEventListener('abort', () => {
        reason = signal.reason
      })
      yield* hanging(_request, signal) as AsyncGenerator<Chunk>
    }
    const leaving = runScripted({
      scripts: [watched as Script],
      onEvent: (event) => {
        if (event.type === 'tokens') throw new Error('left')
      },
    })
    await expect(leaving).rejects.toThrow('left')
    expect(reason).toBeDefined()
  })
})

test('Durations of responses and tool calls are the same under a wall clock that jumps', async () => {
  const times = async (now?: () => Date) => {
    const { trajectory } = await runScripted({
      scripts: [call('calculator', { expression: '2+3' }), '5'],
      ...(now && { now }),
    })
    return trajectory.segments.flatMap((segment) =>
      segment.kind === 'response'
        ? [
            segment.timing?.firstTokenMs,
            segment.timing?.elapsedMs,
            ...segment.toolCalls.map((one) => one.result?.elapsedMs),
          ]
        : [],
    )
  }
  const jumps = [0, -3_600_000, 10 * 365 * 86_400_000, -86_400_000]
  let reads = 0
  const steady = await times()
  expect(await times(() => new Date(1e12 + (jumps[reads++ % jumps.length] as number)))).toEqual(steady)
  expect(reads).toBeGreaterThan(2)
  expect(steady.length).toBe(5)
  for (const duration of steady) expect(duration).toBeGreaterThanOrEqual(0)
})
