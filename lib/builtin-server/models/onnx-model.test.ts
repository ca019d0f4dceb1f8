/** Tests the inputs and outputs of a graph of 16 bits, as onnxruntime-node receives and returns them. */
import type { InferenceSession } from 'onnxruntime-node'
import { expect, test } from 'vitest'
import { onnxModel } from './onnx-model.ts'

/** Node has this type, but TypeScript's library for its target does not. */
const Half = (globalThis as unknown as { Float16Array: { from(values: readonly number[]): object } }).Float16Array

const CACHE = { isTensor: true, type: 'float16', shape: ['rows', 1, 'length', 2] }

function halfSession(feeds: Record<string, { readonly type: string; readonly data: unknown }>[]): InferenceSession {
  return {
    inputNames: ['input_ids', 'past_key_values.0.key'],
    outputNames: ['logits', 'present.0.key'],
    inputMetadata: [
      { isTensor: true, name: 'input_ids', type: 'int64', shape: [] },
      { ...CACHE, name: 'past_key_values.0.key' },
    ],
    async run(given: (typeof feeds)[0]) {
      feeds.push(given)
      return {
        logits: { type: 'float16', dims: [1, 1, 3], data: Half.from([0.5, -2, 7]) },
        'present.0.key': { type: 'float16', dims: [1, 1, 1, 2], data: Half.from([1, 2]) },
      }
    },
  } as unknown as InferenceSession
}

test('The ONNX model passes keys and values of 16 bits back as their bits, and converts logits to floats', async () => {
  const feeds: Parameters<typeof halfSession>[0] = []
  const model = onnxModel(halfSession(feeds), { contextLength: 9, heads: undefined, headSize: undefined })
  const first = await model.forward([{ ids: [4], padding: 0 }], model.empty, 'last')
  expect(first.logits).toEqual([[Float32Array.of(0.5, -2, 7)]])
  await model.forward([{ ids: [5], padding: 0 }], first.keyValues, 'last')
  expect(feeds.map((feed) => feed['past_key_values.0.key'])).toMatchObject([
    { type: 'float16', dims: [1, 1, 0, 2], data: new Uint16Array(0) },
    { type: 'float16', dims: [1, 1, 1, 2], data: Uint16Array.of(0x3c00, 0x4000) },
  ])
})
