/** A small trajectory with everything that views and files must support. For tests. */
import { FORMAT, type Trajectory } from '#lib/trajectory/format/trajectory.ts'

/** The sample: four segments with logprobs, alternatives, calls, a mask, a column and a recorded problem. */
export const sampleTrajectory: Trajectory = {
  format: FORMAT,
  id: 'sample',
  createdAt: '2026-01-01T00:00:00.000Z',
  model: {
    name: 'tiny',
    contextLength: 100,
    tokenizer: { name: 'bytes', vocabularySize: 300, specialIds: [1, 2, 9], endOfTurnId: 2 },
    template: { text: '{{ messages }}', options: { enable_thinking: true } },
    tools: [
      { name: 'add', description: 'Adds.', inputSchema: { type: 'object', properties: { a: { type: 'number' } } } },
    ],
    parser: 'hermes',
  },
  vocab: {
    '1': '<start>',
    '2': '<end>',
    '3': 'hi',
    '4': ' there',
    '5': { hex: 'e697' },
    '6': { hex: 'a5' },
    '7': '4',
    '8': '\n',
    '9': '<think>',
    '10': 'a1',
  },
  segments: [
    {
      kind: 'prompt',
      ids: [1, 3, 2],
      logprobs: [null, -2, -3],
      messages: [
        { role: 'system', content: 'be' },
        { role: 'user', content: 'hi' },
      ],
      derivation: { kind: 'whole' },
    },
    {
      kind: 'response',
      ids: [9, 5, 6, 10, 2],
      logprobs: [-0.5, -0.25, null, -1, 0],
      topLogprobs: {
        k: 2,
        ids: [9, 3, 5, -1, 6, 4, 10, 3, 2, 3],
        logprobs: [-0.5, -1, -0.25, null, -0.1, -3, -1, -2, 0, null],
      },
      thinks: [{ start: 0, end: 3, closed: true }],
      toolCalls: [
        {
          kind: 'parsed',
          id: 'call_0000',
          name: 'add',
          input: { a: 1 },
          arguments: [{ name: 'a', span: { start: 3, end: 4 }, text: { start: 9, end: 10 } }],
          raw: 'a1',
          span: { start: 3, end: 4 },
          text: { start: 8, end: 10 },
          result: { status: 'success', text: '4', elapsedMs: 1 },
        },
        {
          kind: 'malformed',
          id: 'call_0001',
          why: 'odd',
          at: 9,
          raw: '1',
          span: { start: 3, end: 4 },
          text: { start: 9, end: 10 },
        },
      ],
      request: {
        server: 's',
        samplingParams: { temperature: 0.7, top_p: 0.9 },
        inputLength: 3,
        inputHash: 'x',
        streamed: true,
      },
      finish: { kind: 'stop', matched: 2 },
      usage: { promptTokens: 3, completionTokens: 5, cachedTokens: 1 },
      timing: { startedAt: '2026-01-01T00:00:00.000Z', firstTokenMs: 1, elapsedMs: 10 },
    },
    {
      kind: 'prompt',
      ids: [8, 7],
      messages: [
        { role: 'tool', callId: 'call_0000' },
        { role: 'tool', content: 'loose' },
      ],
      derivation: { kind: 'continuation', closesTurn: false, check: { kind: 'held' } },
      problems: [{ kind: 'number', message: 'odd', column: 'logprobs', index: 0, raw: 'NaN' }],
    },
    {
      kind: 'response',
      ids: [3, 4],
      mask: [1, 0],
      columns: { entropy: [0.5, null] },
      thinks: [],
      toolCalls: [],
      finish: { kind: 'length' },
    },
  ],
  outcome: { kind: 'ended', reason: 'length' },
  provenance: { kind: 'rollout', application: 'test' },
}
