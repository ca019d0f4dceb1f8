/** Runs the commands, or has them parsed by the program that would run them: a shell with the real curl. */

import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pythonLiteral } from '#lib/analysis/requests/request-code.ts'
import type { RunRequest } from '#lib/api/run-request.ts'
import type { PromptSegment, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { runs } from '#testing/property-runs.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { anyText } from '#testing/strings.ts'
import { rolloutCurl } from './curl.ts'
import { pythonScript, strandsMessages } from './python-script.ts'
import { type RepeatableRun, repeatableRunOfRequest, repeatableRunOfTrajectory } from './repeatable-run.ts'
import { received } from './test-application.ts'
import { addTool, BASE, searchTool, weather, whole } from './test-requests.ts'

describe('a recorded run', () => {
  test('that requested prompt logprobs requests them again as cURL, and one that did not does not', () => {
    const requesting = (logprobStartLen?: number): Trajectory => ({
      ...sample,
      segments: sample.segments.map((segment) =>
        segment.kind === 'response' && segment.request && logprobStartLen !== undefined
          ? { ...segment, request: { ...segment.request, logprobStartLen } }
          : segment,
      ),
    })
    const curl = (trajectory: Trajectory) => rolloutCurl(repeatableRunOfTrajectory(trajectory) as RepeatableRun)
    expect(curl(requesting(0))).toContain('"promptLogprobs":true')
    expect(curl(requesting())).not.toContain('promptLogprobs')
  })

  const prompt = sample.segments[0] as PromptSegment
  const response = sample.segments[1] as ResponseSegment
  const [call] = response.toolCalls
  if (!call) throw new Error('the sample has a call')
  const asked: PromptSegment = {
    ...prompt,
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'q' },
    ],
  }
  const further: PromptSegment = { ...prompt, messages: [{ role: 'user', content: 'and then?' }] }
  const request = {
    server: 'own',
    samplingParams: { top_p: 0.5, odd: 1 },
    inputLength: 0,
    inputHash: '',
    streamed: false,
  }
  const run = (segments: Trajectory['segments'], changes: Partial<Trajectory> = {}): Trajectory => ({
    ...sample,
    provenance: { kind: 'rollout', application: 'r', limits: { maxTokens: 7 } },
    ...changes,
    segments,
  })
  const answered = {
    ...response,
    request,
    toolCalls: [
      { ...call, name: 'add', result: { status: 'success', text: '3' } },
      { ...call, name: 'add', result: { status: 'cancelled', text: 'no' } },
      { ...call, name: undefined, result: undefined } as never,
    ],
  } as ResponseSegment

  test('is repeated from its first prompt, its later questions and the results of its tools', () => {
    const model = {
      tools: [{ ...weather, odd: 1 }, addTool, searchTool],
      parser: 'glm',
      tokenizer: { name: 'a/b', specialIds: [] },
      template: { text: 'T', options: { x: 1 } },
    }
    expect(repeatableRunOfTrajectory(run([asked, answered, further], { model }))).toEqual({
      request: {
        messages: asked.messages,
        tools: [weather, 'add', { mcp: 'files', name: 'search' }],
        parser: 'glm',
        templateOptions: { x: 1 },
        tokenizer: 'a/b',
        chatTemplate: 'T',
        sampling: { top_p: 0.5, further: { odd: 1 } },
        limits: { maxTokens: 7 },
        server: 'own',
      },
      samples: 1,
      specs: model.tools,
      turns: ['and then?'],
      results: {
        add: [
          { status: 'success', text: '3' },
          { status: 'error', text: 'no' },
        ],
      },
    })
  })

  test('is repeated with the tool schemas that the model was shown, and with the names of MCP servers', () => {
    const again = repeatableRunOfTrajectory(run([asked, answered], { model: { tools: [addTool, searchTool] } }))
    if (!again) throw new Error('it has a prompt')
    const script = pythonScript(again, BASE)
    for (const { description, inputSchema } of [addTool, searchTool])
      expect(script).toContain(`"description": "${description}", "parameters": ${pythonLiteral(inputSchema)}`)
    expect(rolloutCurl(again)).toContain('"tools":["add",{"mcp":"files","name":"search"}]')
  })

  test('is repeated without results of calls beyond the parallel limit, which the limiter refuses itself', () => {
    const provenance = { kind: 'rollout', application: 'r', limits: { maxParallelToolCalls: 1 } } as const
    expect(repeatableRunOfTrajectory(run([asked, answered], { provenance }))?.results).toEqual({
      add: [{ status: 'success', text: '3' }],
    })
  })

  test('that began with text or ids is repeated with its ids, and one without a prompt is not repeated', () => {
    const given: PromptSegment = { kind: 'prompt', ids: [1, 2], messages: [] }
    const source = { name: 'm', source: 'server', specialIds: [] } as const
    const again = repeatableRunOfTrajectory(run([given, response], { model: { tools: [], tokenizer: source } }))
    expect(again?.request).toMatchObject({ ids: [1, 2], tokenizer: 'server' })
    expect(repeatableRunOfTrajectory(run([]))).toBeUndefined()
  })

  test('over a chat endpoint is repeated over it, without sampling parameters of other names', () => {
    const chat = { ...response, request: { ...request, endpoint: 'chat' } } as ResponseSegment
    expect(repeatableRunOfTrajectory(run([asked, chat]))?.request).toMatchObject({ endpoint: 'chat' })
    expect(repeatableRunOfTrajectory(run([asked, chat]))?.request).not.toHaveProperty('sampling')
  })
})

test('strandsMessages joins consecutive results to one message, and returns a last user message as the question', () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: [{ type: 'text', text: 'b' }, { type: 'image' }] },
    { role: 'tool', callId: 'c', content: '1' },
    { role: 'tool', content: '2' },
  ] as const
  const result = (toolUseId: string, text: string) => ({
    toolResult: { toolUseId, status: 'success', content: [{ text }] },
  })
  const history = [
    { role: 'user', content: [{ text: 'a' }] },
    { role: 'assistant', content: [{ text: 'b' }] },
    { role: 'user', content: [result('c', '1'), result('call', '2')] },
  ]
  expect(strandsMessages(messages)).toEqual({ history, question: undefined })
  expect(strandsMessages([...messages, { role: 'user', content: 'q' }])).toEqual({ history, question: 'q' })
})

describe('the curl command', () => {
  test('is valid shell for any run', () => {
    fc.assert(
      fc.property(fc.array(anyText(), { maxLength: 3 }), anyText(), (turns, prompt) => {
        const input = rolloutCurl({ ...repeatableRunOfRequest({ prompt }), turns }).replaceAll('\0', '')
        expect(spawnSync('bash', ['-n'], { input }).status).toBe(0)
      }),
      { numRuns: runs(25) },
    )
  })

  test('of a group starts the group, and a further turn has the sampling parameters and limits of the run', () => {
    const request: RunRequest = { prompt: 'q', sampling: { top_p: 1 }, limits: { maxTokens: 5 }, server: 's' }
    const group = rolloutCurl(repeatableRunOfRequest(request, { samples: 8 }))
    expect(group).toContain('/api/groups"')
    expect(group).toContain(JSON.stringify({ ...request, samples: 8 }))
    const reward = { kind: 'exact', expected: '4' } as never
    expect(rolloutCurl(repeatableRunOfRequest(request, { reward }))).toContain(
      JSON.stringify({ ...request, samples: 1, reward }),
    )
    const { server: __, ...anyServer } = request
    expect(rolloutCurl(repeatableRunOfRequest(request, { servers: ['s', 't'] }))).toContain(
      JSON.stringify({ ...anyServer, servers: ['s', 't'], samples: 1 }),
    )
    const { prompt: _, ...settings } = request
    expect(rolloutCurl({ ...repeatableRunOfRequest(request), turns: ['then'] })).toContain(
      `/continue ${JSON.stringify({ prompt: 'then', ...settings })}`,
    )
  })

  test('sends the request unchanged, with the key from the environment', async () => {
    const request = { ...whole, prompt: 'it’s $HOME `x` "q"\nJSON\n🙂' }
    const curl = rolloutCurl(repeatableRunOfRequest(request))
    const { requests } = await received('bash', ['-c', curl], () => ({}))
    expect(requests.map(({ text, ...rest }) => ({ ...rest, body: JSON.parse(text) }))).toEqual([
      { method: 'POST', url: '/api/rollouts', key: 'Bearer k', marker: '1', body: request },
    ])
  })
})
