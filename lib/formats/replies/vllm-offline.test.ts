/** The classes of vLLM wrote the outputs (lib/formats/golden/writers/make_vllm.py) from a recorded reply of its server. */
import { describe, expect, test } from 'vitest'
import { formatOf } from '../registry.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { completion } from './completion.ts'
import { sglangGenerate } from './sglang-generate.ts'
import { fileSource, foreignRecords } from './test-files.ts'
import { vllmOffline } from './vllm-offline.ts'

const [records] = foreignRecords('vllm-offline.json') as [readonly object[]]

describe('An output of LLM.generate', () => {
  test('has the ids, logprobs and texts that the server returned for them', () => {
    expect(records.map(formatOf)).toEqual([vllmOffline, vllmOffline])
    const trajectory = trajectoryOf(vllmOffline, records[0])
    const served = trajectoryOf(completion, foreignRecords('vllm-completion.json')[0])
    for (const [index, { ids, logprobs, topLogprobs }] of served.segments.entries())
      expect(trajectory.segments[index]).toMatchObject({ ids, logprobs, ...(index === 0 && { topLogprobs }) })
    expect(trajectory.vocab).toEqual(served.vocab)
    expect(trajectory).toMatchObject({
      segments: [{ derivation: { kind: 'given' } }, { finish: { kind: 'length' }, usage: { cachedTokens: 2 } }],
      columnMeanings: { logprobs: { engine: 'vllm', values: 'raw' } },
      foreign: { 'vllm-offline': { calls: [{ request_id: '0', prompt: 'The prompt' }] } },
    })
  })

  test('has a group of its samples, with the alternatives in the order of their ranks, also from flat logprobs', () => {
    const samples = trajectoriesOf(vllmOffline, records[1], fileSource('vllm'))
    expect(samples.map(({ group }) => group)).toEqual([
      { id: '1', index: 0 },
      { id: '1', index: 1 },
    ])
    for (const [index, { segments }] of samples.entries())
      expect(segments[1]).toMatchObject({
        ids: [3, 207],
        logprobs: [-2.5, -0.5],
        topLogprobs: { k: 3, ids: [5, 6, 3, 207, -1, -1] },
        finish: { kind: 'stop', matched: index === 0 ? 207 : 'a' },
      })
  })

  const sample = {
    index: 0,
    text: 'a',
    token_ids: [1, 2],
    cumulative_logprob: -1,
    logprobs: null,
    finish_reason: 'stop',
  }

  test('opens as one sample alone, without its prompt', () => {
    const trajectory = trajectoryOf(vllmOffline, sample)
    expect(trajectory.segments).toMatchObject([{ kind: 'response', ids: [1, 2], message: { content: 'a' } }])
    expect(trajectory.provenance).toMatchObject({ lacked: expect.arrayContaining(['ids of the prompt']) })
  })

  test('is refused at the sample whose ids or logprobs are wrong', () => {
    const output = (more: object) => ({ prompt_token_ids: [1], outputs: [sample, { ...sample, ...more }] })
    expect(
      [output({ token_ids: [-1] }), output({ logprobs: [{}] }), output({ logprobs: { start_indices: [0] } })].map(
        (value) => refusalOf(vllmOffline, value)?.path,
      ),
    ).toEqual(['outputs[1].token_ids[0]', 'outputs[1].logprobs', 'outputs[1].logprobs'])
    expect(refusalOf(vllmOffline, {})).toMatchObject({ path: 'outputs', expected: 'at least one choice' })
    expect(refusalOf(vllmOffline, { ...sample, token_ids: ['x'] })?.path).toBe('token_ids[0]')
    expect(refusalOf(vllmOffline, { ...output({}), prompt_token_ids: ['x'] })?.path).toBe('prompt_token_ids[0]')
  })

  test('is recognised by its samples and the ids of its prompt', () => {
    const others = [
      7,
      { outputs: [sample] },
      { prompt_token_ids: [1], outputs: [] },
      { prompt_token_ids: [1], outputs: [7] },
    ]
    expect([...others, { ...sample, text: 7 }].map(vllmOffline.sniff)).toEqual(Array(5).fill(false))
  })
})

test('A list that Engine.generate of SGLang returns has a record of sglang-generate for each prompt', () => {
  const meta = (logprobs: readonly unknown[]) => ({
    id: 'a',
    finish_reason: { type: 'length', length: 2 },
    prompt_tokens: 1,
    completion_tokens: 2,
    output_token_logprobs: logprobs,
  })
  const list = [
    {
      text: 'ab',
      output_ids: [4, 5],
      meta_info: meta([
        [-1, 4, null],
        [-2, 5, null],
      ]),
    },
    { output_ids: [4, 5], meta_info: meta([]) },
  ]
  expect(list.map(formatOf)).toEqual([sglangGenerate, sglangGenerate])
  expect(list.map((record) => trajectoryOf(sglangGenerate, record).segments.at(-1))).toMatchObject([
    { ids: [4, 5], logprobs: [-1, -2] },
    { ids: [4, 5] },
  ])
})
